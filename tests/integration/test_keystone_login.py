"""Our own login at a real Keystone: by explicit values, clouds.yaml, OS_* variables or an application credential."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from limes.auth.session import CloudSession, open_session
from limes.auth.settings import IdentitySettings
from limes.kernel.errors import StartupError
from tests.support.keystone import RealKeystone
from tests.support.keystone_seed import PASSWORD, REGION

pytestmark = pytest.mark.real


@pytest.fixture(autouse=True)
def _no_login_of_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither the variables nor the files of whoever runs the tests."""
    for name in list(os.environ):
        if name.startswith("OS_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))


def open_with(**keystone: Any) -> CloudSession:
    cloud = open_session(IdentitySettings.model_validate({"keystone": keystone}))
    cloud.check()
    return cloud


def user_behind(cloud: CloudSession, keystone: RealKeystone) -> str:
    token = cloud.session.get_token() or ""
    body = keystone.api.get("/auth/tokens", headers={"X-Subject-Token": token}).json()["token"]
    return str(body["user"]["name"])


def write_clouds_yaml(keystone: RealKeystone, monkeypatch: pytest.MonkeyPatch, **changes: str) -> None:
    auth = keystone.credentials("limes") | changes
    file = Path("clouds.yaml")
    file.write_text(yaml.safe_dump({"clouds": {"lab": {"auth": auth, "region_name": REGION}}}))
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(file.absolute()))


def test_explicit_values(keystone: RealKeystone) -> None:
    cloud = open_with(**keystone.credentials("limes"), region_name=REGION)
    assert user_behind(cloud, keystone) == "limes"
    assert cloud.region_name == REGION
    assert PASSWORD not in repr(cloud)


def test_explicit_values_go_before_the_environment(keystone: RealKeystone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OS_USERNAME", "somebody-else")
    monkeypatch.setenv("OS_PASSWORD", "wrong")
    assert user_behind(open_with(**keystone.credentials("limes")), keystone) == "limes"


def test_system_scope(keystone: RealKeystone) -> None:
    login = {key: keystone.credentials("limes")[key] for key in ("auth_url", "username", "password", "user_domain_id")}
    cloud = open_with(**login, system_scope="all")
    body = keystone.api.get("/auth/tokens", headers={"X-Subject-Token": cloud.session.get_token() or ""}).json()
    assert body["token"]["system"] == {"all": True}


def test_clouds_yaml(keystone: RealKeystone, monkeypatch: pytest.MonkeyPatch) -> None:
    write_clouds_yaml(keystone, monkeypatch)
    cloud = open_with(cloud="lab")
    assert user_behind(cloud, keystone) == "limes"
    assert cloud.region_name == REGION


def test_the_password_of_clouds_yaml_can_be_overridden(keystone: RealKeystone, monkeypatch: pytest.MonkeyPatch) -> None:
    write_clouds_yaml(keystone, monkeypatch, password="old")
    assert user_behind(open_with(cloud="lab", password=PASSWORD), keystone) == "limes"


def test_environment_variables(keystone: RealKeystone, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in keystone.credentials("limes").items():
        monkeypatch.setenv(f"OS_{key.upper()}", value)
    assert user_behind(open_with(), keystone) == "limes"


def test_a_cloud_named_by_the_environment(keystone: RealKeystone, monkeypatch: pytest.MonkeyPatch) -> None:
    write_clouds_yaml(keystone, monkeypatch)
    monkeypatch.setenv("OS_CLOUD", "lab")
    assert user_behind(open_with(), keystone) == "limes"


def test_application_credential(keystone: RealKeystone) -> None:
    made = keystone.application_credential("limes", "service")
    cloud = open_with(
        auth_url=keystone.url, application_credential_id=made["id"], application_credential_secret=made["secret"]
    )
    assert user_behind(cloud, keystone) == "limes"


def test_adapters_find_services_in_the_catalog(keystone: RealKeystone) -> None:
    cloud = open_with(**keystone.credentials("limes"))
    assert (cloud.adapter("identity").get_endpoint() or "").rstrip("/") == keystone.url
    answer = cloud.adapter("identity", endpoint=keystone.url).get("/domains?name=north")
    assert [domain["id"] for domain in answer.json()["domains"]] == [keystone.ids.domains["north"]]


def test_configured_endpoints_go_before_the_catalog(keystone: RealKeystone) -> None:
    settings = {"keystone": keystone.credentials("limes"), "endpoints": {"placement": "http://127.0.0.1:1/p"}}
    cloud = open_session(IdentitySettings.model_validate(settings))
    assert cloud.adapter("placement").get_endpoint() == "http://127.0.0.1:1/p"
    assert cloud.adapter("placement", endpoint="http://127.0.0.1:2/").get_endpoint() == "http://127.0.0.1:2/"


@pytest.mark.parametrize(
    ("login", "message"),
    [({}, "neither cloud nor auth_url is set"), ({"cloud": "nowhere"}, "'nowhere' of clouds.yaml")],
)
def test_no_login(login: dict[str, str], message: str) -> None:
    with pytest.raises(StartupError, match=message) as caught:
        open_with(**login)
    assert "\n" not in str(caught.value)


def test_a_wrong_password(keystone: RealKeystone) -> None:
    with pytest.raises(StartupError, match="HTTP 401") as caught:
        open_with(**keystone.credentials("limes") | {"password": "not-it"})
    assert "\n" not in str(caught.value)
    assert "not-it" not in str(caught.value)
