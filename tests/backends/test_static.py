"""The plugin `static` and the capacitor `manual`."""

import json
from pathlib import Path
from typing import Any

import pytest

from limes.backends import (
    UNLIMITED,
    AZCapacity,
    BackendError,
    CapacityBackend,
    DiscoveryBackend,
    DomainInfo,
    ProjectInfo,
    QuotaBackend,
    Unit,
    calls,
)
from limes.backends.contract import CapacityBackendContract, DiscoveryBackendContract
from limes.backends.loader import BackendSpec, load
from limes.catalog.catalog import Catalog, ResourceDef, ServiceDef
from limes.kernel.errors import ConfigError
from tests.backends.conftest import AZS, STATIC_DISCOVERY, load_capacity, load_quota
from tests.backends.quota_cases import QuotaCases, report, set_quota

PARAMS = {
    "area": "storage",
    "resources": {
        "capacity": {"unit": "GiB", "category": "bulk", "quota": "unlimited"},
        "objects": {"quota": 100, "contained_in": "capacity"},
        "files": {},
    },
    "projects": {
        "p1": {"capacity": {"usage": {"az-one": 20, "az-nine": 5}}, "objects": {"usage": 12, "quota": 50}},
        "beta": {"files": {"usage": 3}},
    },
}


class StaticContract(QuotaCases):
    @pytest.fixture
    def broken_backend(self, tmp_path: Path) -> QuotaBackend:
        path = tmp_path / "broken.json"
        path.write_text("not JSON")
        return load_quota("static", {**PARAMS, "state_file": str(path)}).quota["compute"]


class TestInMemory(StaticContract):
    @pytest.fixture
    def backend(self) -> QuotaBackend:
        return load_quota("static", PARAMS).quota["compute"]

    def test_description(self, service: ServiceDef) -> None:
        assert service == ServiceDef(
            "compute",
            "storage",
            {
                "capacity": ResourceDef("capacity", Unit.GIB, "bulk"),
                "objects": ResourceDef("objects", contained_in="capacity"),
                "files": ResourceDef("files", tracks_quota=False),
            },
        )

    def test_figures_of_a_project_come_before_the_common_ones(
        self, backend: QuotaBackend, project: ProjectInfo, other_project: ProjectInfo
    ) -> None:
        found = report(backend, project)
        assert {az: usage.usage for az, usage in found["capacity"].per_az.items()} == {
            "any": 0,
            "az-one": 20,
            "unknown": 5,
        }
        assert (found["capacity"].quota, found["objects"].quota, found["files"].quota) == (UNLIMITED, 50, None)
        assert found["objects"].per_az["any"].usage == 12
        other = report(backend, other_project)
        assert (other["files"].per_az["any"].usage, other["objects"].quota) == (3, 100)


class TestInFile(StaticContract):
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "state.json"

    @pytest.fixture
    def backend(self, path: Path) -> QuotaBackend:
        return load_quota("static", {**PARAMS, "state_file": str(path)}).quota["compute"]

    def test_the_file_is_shared_and_can_be_edited(
        self, backend: QuotaBackend, path: Path, project: ProjectInfo
    ) -> None:
        set_quota(backend, project, {"capacity": 10, "objects": 20})
        assert json.loads(path.read_text()) == {"p1": {"capacity": {"quota": 10}, "objects": {"quota": 20}}}
        path.write_text(json.dumps({"p1": {"objects": {"quota": "unlimited", "usage": 77}}}))
        other_process = load_quota("static", {**PARAMS, "state_file": str(path)}).quota["compute"]
        for process in (backend, other_process):
            objects = report(process, project)["objects"]
            assert (objects.quota, objects.per_az["any"].usage) == (UNLIMITED, 77)

    @pytest.mark.parametrize("number", [2**63 - 1, 2**64, 10**30])
    def test_numbers_that_mean_unlimited(
        self, backend: QuotaBackend, path: Path, project: ProjectInfo, number: int
    ) -> None:
        path.write_text(json.dumps({"p1": {"objects": {"quota": number, "usage": number}}}))
        objects = report(backend, project)["objects"]
        assert (objects.quota, objects.per_az["any"].usage) == (UNLIMITED, 2**63 - 2)
        params = {"area": "storage", "resources": {"objects": {"quota": number, "usage": number}}}
        configured = load_quota("static", params).quota["compute"]
        (objects,) = report(configured, project).values()
        assert (objects.quota, objects.per_az["any"].usage) == (UNLIMITED, 2**63 - 2)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ('{"p1": {"objects": {"usage": -1}}}', "resource objects, AZ any: the usage is -1"),
            ('{"p1": {"objects": {"quota": "lots"}}}', "the quota is 'lots', expected a whole number or 'unlimited'"),
            ('{"p1": [1]}', "project {project_id}: expected resources with quota and usage"),
            ("[]", "expected a mapping of project ids"),
        ],
    )
    def test_a_wrong_file_is_an_error(
        self, backend: QuotaBackend, path: Path, project: ProjectInfo, content: str, message: str
    ) -> None:
        path.write_text(content)
        with pytest.raises(BackendError) as error:
            report(backend, project)
        assert message in str(error.value)


class TestStaticDiscovery(DiscoveryBackendContract):
    @pytest.fixture
    def backend(self) -> DiscoveryBackend:
        return load([], [], STATIC_DISCOVERY, availability_zones=AZS).discovery

    def test_lists_what_is_configured(self, backend: DiscoveryBackend) -> None:
        domain = DomainInfo("d1", "one")
        assert calls.list_domains(backend, None, None) == [domain]
        assert calls.list_projects(backend, domain) == [ProjectInfo("p1", "alpha", "d1", domain)]


class TestManual(CapacityBackendContract):
    @pytest.fixture
    def backend(self) -> CapacityBackend:
        values = {"compute": {"cores": 4800, "ram": {"az-one": 10, "az-two": 20}}}
        return load_capacity("manual", {"values": values}).capacity["under-test"]

    @pytest.fixture
    def catalog(self) -> Catalog:
        return Catalog(
            AZS, [ServiceDef("compute", "compute", {"cores": ResourceDef("cores"), "ram": ResourceDef("ram")})]
        )

    def test_values(self, backend: CapacityBackend, catalog: Catalog) -> None:
        assert calls.report_capacity(backend, "manual", catalog).services == {
            "compute": {"cores": {"any": AZCapacity(4800)}, "ram": {"az-one": AZCapacity(10), "az-two": AZCapacity(20)}}
        }


def test_static_params_are_checked() -> None:
    params = {
        "resources": {"ram": {"unit": "Megabytes", "quota": -5}, "a/b": {}, "cores": {"usage": True, "color": "red"}}
    }
    with pytest.raises(ConfigError) as error:
        load_quota("static", params)
    assert sorted(error.value.problems) == [
        "services[0].params.area: missing",
        "services[0].params.resources.a/b: expected a name without slashes and blanks, not 'a/b'",
        "services[0].params.resources.cores.color: unknown key",
        "services[0].params.resources.cores.usage.any: expected a whole number, not true",
        "services[0].params.resources.ram.quota: expected 'unlimited' or a whole number from 0, not -5",
        "services[0].params.resources.ram.unit: expected '', 'B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB' or 'EiB', not 'Megabytes'",
    ]


def test_static_figures_must_be_of_known_resources() -> None:
    projects = {"p1": {"nothing": {"usage": 1}, "files": {"quota": 1}}}
    with pytest.raises(ConfigError) as error:
        load_quota("static", {**PARAMS, "projects": projects})
    assert error.value.problems == [
        "services[0].params.projects.p1.nothing: there is no resource of this name",
        "services[0].params.projects.p1.files.quota: the resource tracks no quota, because it has none under resources",
    ]


@pytest.mark.parametrize(
    ("domains", "problem"),
    [
        ([], "params.domains: at least one is needed"),
        ([{"id": "d", "name": "n", "projects": []}], "params.domains[0].projects: at least one is needed"),
        ([{"id": "d", "name": "n"}], "params.domains[0].projects: missing"),
        (
            [{"id": "d", "name": "n", "projects": [{"id": "p", "name": "x", "parent_id": "q"}]}],
            "domains[0].projects[0].parent_id: there is no project 'q' in this domain",
        ),
        (
            [{"id": "d", "name": "n", "projects": [{"id": "d", "name": "x", "parent_id": "d"}]}],
            "domains: the id 'd' is given 2 times",
        ),
    ],
)
def test_static_discovery_params_are_checked(domains: list[Any], problem: str) -> None:
    spec = BackendSpec("discovery", "static", "static", {"domains": domains}, "method")
    with pytest.raises(ConfigError) as error:
        load([], [], spec, availability_zones=AZS)
    assert len(error.value.problems) == 1
    assert problem in error.value.problems[0]


def test_manual_params_are_checked() -> None:
    values = {"compute": {"cores": -1, "ram": {"az-nine": 5}}}
    with pytest.raises(ConfigError) as error:
        load_capacity("manual", {"values": values})
    assert error.value.problems == ["capacitors[0].params.values.compute.cores.any: expected at least 0, not -1"]
    with pytest.raises(ConfigError) as error:
        load_capacity("manual", {"values": {"compute": {"ram": {"az-nine": 5}}}})
    assert "values.compute.ram.az-nine: is not one of the configured availability_zones" in error.value.problems[0]
