"""The section `identity`: which combinations make a login, and that no secret is shown."""

from pathlib import Path
from typing import Any

import pytest
from keystoneauth1.session import Session
from pydantic import ValidationError

from limes.auth.session import CloudSession, open_session
from limes.auth.settings import IdentitySettings
from limes.kernel.errors import StartupError

URL = {"auth_url": "https://keystone.example.org/v3"}
USER = {"username": "limes", "password": "s3cret-pw", "user_domain_id": "default"}


@pytest.mark.parametrize(
    "login",
    [
        {},
        {"password": "from the environment"},
        {"cloud": "lab"},
        {"cloud": "lab", "password": "from the environment", "region_name": "north", "interface": "internal"},
        URL | USER | {"project_name": "service", "project_domain_id": "default"},
        URL | USER | {"domain_name": "Default"},
        URL | USER | {"system_scope": "all"},
        URL | {"application_credential_id": "1", "application_credential_secret": "s3cret-pw"},
    ],
)
def test_ways_to_log_in(login: dict[str, Any]) -> None:
    settings = IdentitySettings.model_validate({"keystone": login})
    assert "s3cret-pw" not in repr(settings)


def test_a_session_does_not_show_the_login() -> None:
    assert "s3cret-pw" not in repr(CloudSession(Session(), None, login=USER))


@pytest.mark.parametrize(
    ("login", "message"),
    [
        ({"cloud": "lab"} | URL, "not both"),
        (USER, "need an auth_url"),
        ({"application_credential_id": "1", "application_credential_secret": "x"}, "need an auth_url"),
        (URL | {"application_credential_id": "1"}, "must be given together"),
        (URL, "auth_url needs username"),
        (URL | {"username": "limes", "system_scope": "all"}, "LIMES_IDENTITY_PASSWORD"),
        (URL | USER, "exactly one of project_name, domain_name and system_scope"),
        (URL | USER | {"project_name": "service", "system_scope": "all"}, "exactly one of"),
        (URL | USER | {"system_scope": "some"}, "system_scope"),
        ({"auth_url": "keystone.example.org"}, "auth_url"),
        ({"interface": "secret"}, "interface"),
        ({"timeout": 0}, "timeout"),
        ({"user": "limes"}, "user"),
    ],
)
def test_ways_that_are_refused(login: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message) as caught:
        IdentitySettings.model_validate({"keystone": login})
    assert "s3cret-pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("clouds", "message"),
    [
        ("clouds: {lab: {auth: {auth_url: 'http://127.0.0.1:1/v3', username: u, user_domain_id: d}}}", "password"),
        ("clouds: {lab: {auth: {username: u, password: p}}}", "auth_url"),
        ("clouds: {lab: {auth_type: nonsense, auth: {}}}", "nonsense"),
        ("clouds: {other: {}}", "lab"),
        ("clouds: [1", "lab"),
        ("", "lab"),
    ],
)
def test_entries_of_clouds_yaml_that_are_no_login(
    clouds: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "clouds.yaml").write_text(clouds)
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    with pytest.raises(StartupError, match=message) as caught:
        open_session(IdentitySettings.model_validate({"keystone": {"cloud": "lab"}})).check()
    assert str(caught.value).startswith("identity.keystone: cannot use the entry 'lab' of clouds.yaml: ")
    assert "\n" not in str(caught.value)


def test_sample_identities_go_out_with_their_own_token() -> None:
    domain, user = {"name": "north"}, {"name": "ada", "domain": "north"}
    role = {"domain": "north", "roles": ["admin"]}
    sample = {
        "domains": [domain],
        "users": [user | {"assignments": [role]}],
        "tokens": [{"token": "ada-north", "user": "ada", "domain": "north"}],
        "own_token": "ada-north",
    }
    endpoints = {"placement": "http://127.0.0.1:8778/placement"}
    settings = {"method": "sample", "sample": sample, "endpoints": endpoints}
    cloud = open_session(IdentitySettings.model_validate(settings))
    adapter = cloud.adapter("placement")
    assert (adapter.get_endpoint(), adapter.get_token()) == (endpoints["placement"], "ada-north")
    assert cloud.auth_url is None
