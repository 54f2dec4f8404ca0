"""What the plugin `compute` says of servers beside what they use, against recorded shapes of Nova's and Glance's API references."""

from collections.abc import Iterator
from typing import Any

import pytest

from limes.backends import ProjectInfo, QuotaBackend
from tests.backends.quota_cases import report
from tests.backends.recorded_nova import HUGE, SMALL, Nova, load, server
from tests.support.recorded import Asked, RecordedService


@pytest.fixture
def nova() -> Iterator[Nova]:
    fake = Nova()
    yield fake
    fake.service.close()


class Glance:
    """Images of Linux and of Windows, and one that was deleted."""

    def __init__(self) -> None:
        self.images = {"i-lin": {"os_type": "linux"}, "i-win": {"vmware_ostype": "windows9", "os_distro": "x"}, "i": {}}
        self.service = RecordedService({("GET", "/v2/images/(.+)"): self.show})

    def show(self, request: Asked, image: Any) -> tuple[Any, ...]:
        if image not in self.images:
            return 404, b"<html>No image found"
        return 200, {"id": image, "name": "an image", **self.images[image]}


@pytest.fixture
def glance() -> Iterator[Glance]:
    fake = Glance()
    yield fake
    fake.service.close()


def instances(backend: QuotaBackend, project: ProjectInfo) -> dict[Any, Any]:
    """The attributes of a project's servers, by id."""
    found = report(backend, project)["instances"].per_az.values()
    return {one["id"]: one for az in found for one in az.subresources}


class TestOperatingSystemsBeforeEpoxy:
    """Such a Nova tells the id of an image, and not its properties."""

    @pytest.fixture
    def backend(self, nova: Nova, glance: Glance) -> QuotaBackend:
        nova.newest = "2.97"
        images = ("i-lin", "i-win", "gone", "i", "i-lin")
        nova.servers = [server(f"s{number}", "p1", image={"id": image}) for number, image in enumerate(images)]
        nova.servers.append(server("volume", "p1", image=""))
        connection = {"endpoint": glance.service.url, "auth": {"type": "token", "token": "secret-token"}}
        return load(nova.service.url, with_subresources=True, images=connection, max_age=0)

    def test_glance_knows_them(self, backend: QuotaBackend, glance: Glance, project: ProjectInfo) -> None:
        for _ in range(2):
            found = {id_: one.get("os_type") for id_, one in instances(backend, project).items()}
            assert all("os_type" not in one or one["os_type"] for one in instances(backend, project).values())
            assert found == {"s0": "linux", "s1": "windows9", "s2": None, "s3": None, "s4": "linux", "volume": None}
        assert len(glance.service.asked) == 4, "once for each image"

    def test_without_glance_all_else_is_reported(
        self, backend: QuotaBackend, glance: Glance, project: ProjectInfo, caplog: pytest.LogCaptureFixture
    ) -> None:
        glance.service.routes = {("GET", ".*"): lambda request: (503, b"busy")}
        found = instances(backend, project)
        assert {id_ for id_, one in found.items() if one.get("os_type", "none") is None} == {f"s{n}" for n in range(5)}
        assert "os_type" not in found["volume"], "it has no image, so this is known"
        assert len(glance.service.asked) == 1
        assert "the operating systems of servers are not known for now: GET /v2/images/i-lin: Glance" in caplog.text


def test_types_of_hypervisors(nova: Nova, project: ProjectInfo) -> None:
    specs = {"extra_specs": {"capabilities:cpu_arch": "metal"}}
    nova.servers = [
        server("s1", "p1"),
        server("s2", "p1", flavor=HUGE),
        server("s3", "p1", flavor={**HUGE, **specs}),
        server("s4", "p1", flavor={**SMALL, "original_name": "other"}),
    ]
    rules = [
        {"match": "extra-spec:capabilities:cpu_arch", "pattern": ".", "type": "none"},
        {"match": "flavor-name", "pattern": "^m1", "type": "kvm"},
        {"match": "flavor-name", "pattern": "hana", "type": "vmware"},
    ]
    backend = load(nova.service.url, with_subresources=True, hypervisor_type_rules=rules)
    found = {id_: one["hypervisor"] for id_, one in instances(backend, project).items()}
    assert found == {"s1": "kvm", "s2": "vmware", "s3": "none", "s4": "unknown"}


def test_a_server_in_a_cell_that_is_down(nova: Nova, project: ProjectInfo) -> None:
    """Nova knows that it is there, and so does whoever follows it."""
    nova.servers.append(
        {"id": "s9", "tenant_id": "p1", "status": "UNKNOWN", "created": "2026-01-01T00:00:00Z", "links": []}
    )
    backend = load(nova.service.url, with_subresources=True)
    assert instances(backend, project)["s9"] == {"id": "s9", "status": "UNKNOWN"}
    assert backend.describe().resources["instances"].billed_attributes[0] == "flavor"
    assert "s9" not in instances(load(nova.service.url), project)
