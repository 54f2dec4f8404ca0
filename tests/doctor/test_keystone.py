"""What can be wrong with Keystone, and with backends in its catalog."""

import threading
from typing import Any

import pytest

from limes.kernel.findings import Level
from tests.doctor.patient import LateClock, Patient
from tests.support.keystone import RealKeystone
from tests.support.keystone_seed import PASSWORD, REGION
from tests.support.processes import free_port
from tests.support.recorded import Asked, RecordedService


@pytest.fixture
def cloud_patient(light_patient: Patient, keystone: RealKeystone) -> Patient:
    """One with a real Keystone, whose services are not asked yet."""
    light_patient.document["identity"] = {
        "method": "keystone",
        "keystone": {**keystone.credentials("limes"), "region_name": REGION},
    }
    light_patient.document["discovery"] = {"method": "list", "params": {}}
    return light_patient


@pytest.fixture
def login(cloud_patient: Patient) -> dict[str, Any]:
    return cloud_patient.document["identity"]["keystone"]


def test_all_is_well(cloud_patient: Patient) -> None:
    found = cloud_patient.findings("keystone")
    assert {one.level for one in found} == {Level.OK}, found
    assert [one.check.partition(".")[2] for one in found] == [
        "connection",
        "clock",
        "login",
        "roles",
        "catalog",
        "catalog",
    ]
    backends = {one.check: one for one in cloud_patient.findings("backends")}
    assert backends["backends.discovery"].level is Level.OK
    assert backends["backends.service.storage"].message.startswith("service storage reports 1 resources of ")


def test_a_wrong_password(cloud_patient: Patient, login: dict[str, Any]) -> None:
    login["password"] = "falsches-passwort"
    level, message, mend = cloud_patient.ailment("keystone.login")
    assert level == "problem"
    assert message.startswith("Keystone does not let us in: HTTP 401")
    assert "LIMES_IDENTITY_PASSWORD" in mend
    discovery = cloud_patient.ailment("backends.discovery")
    assert discovery[2] == "our user cannot sign in at Keystone: see keystone.login"
    assert "falsches-passwort" not in str(cloud_patient.examine(only=["keystone", "backends"]))


def test_no_password(cloud_patient: Patient, login: dict[str, Any]) -> None:
    cloud_patient.document["identity"]["keystone"] = {}
    assert cloud_patient.ailment("keystone.login")[1].startswith("identity.keystone: neither cloud nor auth_url")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://127.0.0.1:1/v3", "does not answer: connection refused"),
        ("http://keystone.invalid/v3", "does not answer: failed to resolve"),
    ],
)
def test_no_keystone(cloud_patient: Patient, login: dict[str, Any], url: str, message: str) -> None:
    login["auth_url"] = url
    level, text, mend = cloud_patient.ailment("keystone")
    assert (level, text) == ("problem", f"Keystone at {url} {message}")
    assert "auth_url" in mend


def test_something_else_answers(cloud_patient: Patient, login: dict[str, Any]) -> None:
    service = RecordedService({("GET", "/v3"): lambda request: (200, b"<html>Welcome to nginx</html>")})
    login["auth_url"] = f"{service.url}/v3"
    level, message, mend = cloud_patient.ailment("keystone")
    service.close()
    assert (level, message) == ("problem", f"what answers at {service.url}/v3 (HTTP 200) is not Keystone")
    assert "auth_url" in mend


def test_no_certificate_that_we_trust(cloud_patient: Patient, login: dict[str, Any], keystone: RealKeystone) -> None:
    login["auth_url"] = keystone.url.replace("http://", "https://")
    level, _, mend = cloud_patient.ailment("keystone")
    assert level == "problem"
    assert "identity.keystone.cacert" in mend


@pytest.mark.parametrize(("ahead", "level"), [(3600, "problem"), (-3600, "problem"), (10, "warning")])
def test_a_clock_that_is_off(cloud_patient: Patient, ahead: int, level: str) -> None:
    found = cloud_patient.ailment("keystone.clock", clock=LateClock(ahead))
    assert found[0] == level
    assert "Keystone's" in found[1]


@pytest.mark.parametrize(
    ("user", "level", "role"), [("auditor", "problem", "service"), ("operator", "warning", "service")]
)
def test_roles_that_are_missing(
    cloud_patient: Patient, keystone: RealKeystone, user: str, level: str, role: str
) -> None:
    cloud_patient.document["identity"]["keystone"] = keystone.credentials(user) | {"region_name": REGION}
    found = cloud_patient.ailment("keystone.roles")
    assert found[0] == level
    assert found[2] == f"openstack role add --user USER --project PROJECT {role}"


def test_a_region_that_is_none(cloud_patient: Patient, login: dict[str, Any]) -> None:
    login["region_name"] = "west"
    level, message, mend = cloud_patient.ailment("keystone.catalog")
    assert level == "problem"
    assert message == f"there is no region 'west' in the catalog; there are: {REGION}"
    assert mend == "correct identity.keystone.region_name"


def test_ours_are_not_in_the_catalog(cloud_patient: Patient, keystone: RealKeystone) -> None:
    service_id = keystone.ids.services["resources"]
    keystone.api.patch(f"/services/{service_id}", json={"service": {"enabled": False}})
    try:
        levels = [one.level for one in cloud_patient.findings("keystone.catalog")]
        first = cloud_patient.findings("keystone.catalog")[0]
    finally:
        keystone.api.patch(f"/services/{service_id}", json={"service": {"enabled": True}})
    assert levels == [Level.WARNING, Level.OK]
    assert first.message.startswith(f"the catalog has no resources for interface public in region {REGION}")
    assert first.mend.startswith("openstack service create --name limes resources; openstack endpoint create resources")


class TestBackends:
    def dns(self, cloud_patient: Patient) -> tuple[str, str, str]:
        cloud_patient.document["services"] = [{"service_type": "dns", "type": "dns", "params": {}}]
        cloud_patient.document["capacitors"] = []
        return cloud_patient.ailment("backends.service.dns")

    def test_not_in_the_catalog(self, cloud_patient: Patient) -> None:
        level, message, mend = self.dns(cloud_patient)
        assert level == "problem"
        assert "there is no service of type 'dns' in Keystone's catalog" in message
        assert mend.startswith("openstack endpoint create")

    @pytest.mark.parametrize(
        ("status", "mend"),
        [(403, "give our user the roles"), (503, "start the backend"), (400, "see the message; `limes plugin test`")],
    )
    def test_an_answer_of_no_use(self, cloud_patient: Patient, status: int, mend: str) -> None:
        service = RecordedService({("GET", ".*"): lambda request: (status, {"message": "no"})})
        cloud_patient.document["identity"]["endpoints"] = {"dns": f"{service.url}/v2"}
        cloud_patient.document["services"] = [
            {"service_type": "dns", "type": "dns", "params": {"endpoint": f"{service.url}/v2"}}
        ]
        level, message, found = cloud_patient.ailment("backends.service.dns")
        service.close()
        assert level == "problem"
        assert str(status) in message
        assert found.startswith(mend)

    def test_too_old(self, cloud_patient: Patient) -> None:
        version = {"id": "v2.1", "status": "CURRENT", "version": "2.10", "min_version": "2.1"}

        def root(request: Asked) -> tuple[int, dict[str, Any]]:
            return 200, {"version": version | {"links": [{"rel": "self", "href": f"{service.url}/v2.1/"}]}}

        service = RecordedService({("GET", ".*"): root})
        cloud_patient.document["services"] = [
            {"service_type": "compute", "type": "compute", "params": {"endpoint": f"{service.url}/v2.1"}}
        ]
        level, message, mend = cloud_patient.ailment("backends.service.compute")
        service.close()
        assert level == "problem"
        assert "goes up to 2.10, but at least" in message
        assert mend.startswith("upgrade the backend")

    def test_down(self, cloud_patient: Patient) -> None:
        cloud_patient.document["services"] = [
            {"service_type": "dns", "type": "dns", "params": {"endpoint": f"http://127.0.0.1:{free_port()}"}}
        ]
        level, message, mend = cloud_patient.ailment("backends.service.dns")
        assert level == "problem"
        assert "Unable to establish connection" in message
        assert mend.startswith("start the backend")

    def test_hanging(self, light_patient: Patient) -> None:
        """Without a Keystone, which may take more than a second on a busy machine."""
        gate = threading.Event()
        service = RecordedService({("GET", ".*"): lambda request: (gate.wait(300), (200, {}))[1]})
        params = {"endpoint": service.url, "auth": {"type": "token", "token": "some-token"}}
        light_patient.document["services"] = [{"service_type": "dns", "type": "dns", "params": params}]
        light_patient.document["capacitors"] = []
        level, message, mend = light_patient.ailment("backends.service.dns", timeout=1.0)
        gate.set()
        service.close()
        assert level == "problem"
        assert mend.startswith("start the backend"), message

    def test_a_project_of_ones_choice(self, cloud_patient: Patient, keystone: RealKeystone) -> None:
        found = cloud_patient.findings("backends", project=keystone.ids.projects["munich"])
        assert found[0].message == "discovery finds projects, such as south/munich"
        found = cloud_patient.findings("backends", project="nowhere")
        assert [one.level for one in found] == [Level.PROBLEM, Level.SKIPPED, Level.OK]

    def test_no_project(self, cloud_patient: Patient) -> None:
        cloud_patient.document["discovery"]["only_domains"] = "^nowhere$"
        level, _, mend = cloud_patient.ailment("backends.discovery")
        assert level == "warning"
        assert "only_domains" in mend


def test_the_password_is_nowhere(cloud_patient: Patient) -> None:
    assert PASSWORD not in str(cloud_patient.examine())
