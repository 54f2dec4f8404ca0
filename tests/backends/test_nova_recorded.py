"""The plugin `nova` against recorded shapes of the API references of Nova (2.87) and Placement (1.38), for what the real ones in
`test_nova.py` do not do: hypervisors without AZ, without disks, without resource provider, and wrong answers."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from limes.backends import AZDemand, BackendError, CapacityBackend, ConfigError, ResourceDemand
from tests.backends.conftest import load_capacity
from tests.support.recorded import Asked, RecordedService

TOKEN = {"type": "token", "token": "secret-token"}


class Nova:
    """Nova and Placement under one address: hosts h1 and h2 in az-one, h3 in no AZ, all in vc-1 or vc-2."""

    def __init__(self) -> None:
        self.aggregates = [
            {"id": 1, "name": "vc-1", "hosts": ["h1", "h2"], "availability_zone": "az-one", "metadata": {}},
            {"id": 2, "name": "vc-2", "hosts": ["h3"], "availability_zone": None, "metadata": {}},
            {"id": 3, "name": "ssd", "hosts": ["h1"], "availability_zone": None, "metadata": {}},
        ]
        self.hypervisors = [self.hypervisor(name, count) for name, count in (("h1", 3), ("h2", 4), ("h3", 5))]
        self.flavors = [{"name": "f", "disk": 10, "OS-FLV-EXT-DATA:ephemeral": 30, "extra_specs": {}}]
        self.inventories = {
            uuid: {"VCPU": self.inventory(16, 2), "MEMORY_MB": self.inventory(4096, 96), "DISK_GB": self.inventory(100, 0)}
            for uuid in ("u-h1", "u-h2", "u-h3")
        }  # fmt: skip
        self.service = RecordedService(
            {
                ("GET", "/v2.1/?"): self.version,
                ("GET", "/v2.1/os-aggregates"): lambda request: (200, {"aggregates": self.aggregates}),
                ("GET", "/v2.1/os-hypervisors/detail"): lambda request: (200, {"hypervisors": self.hypervisors}),
                ("GET", "/v2.1/flavors/detail"): lambda request: (200, {"flavors": self.flavors}),
                ("GET", "/placement/resource_providers/(.+)/inventories"): self.show_inventories,
                ("GET", "/placement/resource_providers/(.+)/usages"): lambda request, uuid: (
                    200,
                    {"usages": {"VCPU": 7, "MEMORY_MB": 512}, "resource_provider_generation": 1},
                ),
            }
        )

    def version(self, request: Asked) -> tuple[int, dict[str, Any]]:
        version = {"id": "v2.1", "status": "CURRENT", "version": "2.100", "min_version": "2.1"}
        return 200, {"version": version | {"links": [{"rel": "self", "href": f"{self.service.url}/v2.1/"}]}}

    def hypervisor(self, host: str, running: int) -> dict[Any, Any]:
        common = {"hypervisor_hostname": f"{host}.example", "hypervisor_type": "QEMU", "running_vms": running}
        return {"id": f"u-{host}", "service": {"id": "s", "host": host}, "state": "up", **common}

    def inventory(self, total: int, reserved: int) -> dict[Any, Any]:
        return {"total": total, "reserved": reserved, "allocation_ratio": 4.0, "max_unit": total, "min_unit": 1}

    def show_inventories(self, request: Asked, uuid: str) -> tuple[Any, ...]:
        if uuid not in self.inventories:
            return 404, {"errors": [{"status": 404, "detail": f"No resource provider with uuid {uuid} found"}]}
        return 200, {"inventories": self.inventories[uuid], "resource_provider_generation": 1}


@pytest.fixture
def nova() -> Iterator[Nova]:
    fake = Nova()
    yield fake
    fake.service.close()


def load(url: str, **params: Any) -> CapacityBackend:
    params = {
        "endpoint": f"{url}/v2.1",
        "auth": TOKEN,
        "placement": {"endpoint": f"{url}/placement", "auth": TOKEN},
        "hypervisor_selection": {"aggregate_name_pattern": "^vc-"},
        **params,
    }
    return load_capacity("nova", params).capacity["under-test"]


def capacity(nova: Nova, **params: Any) -> dict[Any, Any]:
    resources = load(nova.service.url, **params).report_capacity().services["compute"]
    return {
        name: {az: (one.capacity, one.usage) for az, one in resource.items()} for name, resource in resources.items()
    }


def test_capacity(nova: Nova) -> None:
    """Without reserved parts, without allocation ratio; 40 GiB is what a flavor takes with its ephemeral disk."""
    assert capacity(nova) == {
        "cores": {"az-one": (28, 14), "unknown": (14, 7)},
        "ram": {"az-one": (8000, 1024), "unknown": (4000, 512)},
        "instances": {"az-one": (5, 7), "unknown": (2, 5)},
    }


def test_hypervisors_without_disks_set_no_bound(nova: Nova) -> None:
    del nova.inventories["u-h2"]["DISK_GB"]
    assert capacity(nova, max_instances_per_aggregate=50)["instances"] == {"az-one": (50, 7), "unknown": (2, 5)}


def test_flavors_without_disks_set_no_bound(nova: Nova) -> None:
    nova.flavors = [{"name": "f", "disk": 0, "OS-FLV-EXT-DATA:ephemeral": 0, "extra_specs": {}}]
    assert capacity(nova)["instances"] == {"az-one": (10_000, 7), "unknown": (10_000, 5)}


def test_how_many_run_is_not_known(nova: Nova) -> None:
    nova.hypervisors[0]["running_vms"] = None
    assert capacity(nova, with_subcapacities=False)["instances"] == {"az-one": (5, None), "unknown": (2, 5)}


def test_a_hypervisor_without_provider(nova: Nova) -> None:
    del nova.inventories["u-h2"]
    with pytest.raises(BackendError, match=r"hypervisor h2\.example has no resource provider u-h2 in Placement"):
        capacity(nova)


def flavor(name: str, **attributes: Any) -> dict[Any, Any]:
    return {"name": name, "vcpus": 7, "ram": 1000, "disk": 0, "swap": "", "OS-FLV-EXT-DATA:ephemeral": 0} | attributes


class TestSingleFlavors:
    """Of 14 cores and 4000 MiB on each hypervisor."""

    @pytest.fixture
    def counts(self, nova: Nova) -> Callable[..., Any]:
        nova.service.routes["GET", "/placement/resource_providers/(.+)/traits"] = lambda request, uuid: (
            200,
            {"traits": ["CUSTOM_GOLD"] if uuid == "u-h1" else [], "resource_provider_generation": 1},
        )

        def count(demand: Any = None, **flavors: Any) -> dict[Any, Any]:
            backend = load(nova.service.url, flavors=flavors)
            per_az = backend.report_capacity_for(demand or {}).services["compute"]
            names = [f"instances_{name}" for name in flavors]
            assert [ref[1] for ref in backend.resources()] == ["cores", "instances", "ram", *names]
            assert backend.needs_demand() == backend.resources()
            return {name: {az: one.capacity for az, one in per_az[f"instances_{name}"].items()} for name in flavors}

        return count

    def test_without_demand(self, nova: Nova, counts: Callable[..., Any]) -> None:
        nova.flavors = [flavor("seven"), flavor("ten", vcpus=10)]
        assert counts(seven={}) == {"seven": {"az-one": 4, "unknown": 2}}
        assert counts(ten={}) == {"ten": {"az-one": 2, "unknown": 1}}

    def test_demand_decides(self, nova: Nova, counts: Callable[..., Any]) -> None:
        nova.flavors = [flavor("seven"), flavor("ten", vcpus=10)]
        demand = {("compute", "instances_ten"): ResourceDemand(per_az={"az-one": AZDemand(1, 0, 1)})}
        assert counts(demand, seven={}, ten={}) == {
            "seven": {"az-one": 0, "unknown": 0},
            "ten": {"az-one": 2, "unknown": 1},
        }
        demand = {("compute", "instances_seven"): ResourceDemand(per_az={"az-one": AZDemand(1, 0, 2)})}
        assert counts(demand, seven={}, ten={}) == {
            "seven": {"az-one": 4, "unknown": 0},
            "ten": {"az-one": 0, "unknown": 1},
        }

    def test_what_others_demand_is_left(self, nova: Nova, counts: Callable[..., Any]) -> None:
        nova.flavors = [flavor("seven")]
        demand = {
            ("compute", "instances_seven"): ResourceDemand(per_az={"az-one": AZDemand(1)}),
            # 7 of these cores are those of the server of flavor `seven`
            ("compute", "cores"): ResourceDemand(per_az={"az-one": AZDemand(17)}),
        }
        assert counts(demand, seven={})["seven"]["az-one"] == 1 + 1

    def test_overcommitted_cores(self, nova: Nova, counts: Callable[..., Any]) -> None:
        nova.flavors = [flavor("seven")]
        demand = {("compute", "cores"): ResourceDemand(1.5)}
        assert counts(demand, seven={})["seven"] == {"az-one": 6, "unknown": 3}

    def test_extra_specs_say_what_is_taken_and_where(self, nova: Nova, counts: Callable[..., Any]) -> None:
        for uuid in nova.inventories:
            nova.inventories[uuid]["CUSTOM_BM"] = self.one()
        free = {"resources:VCPU": "0", "resources:MEMORY_MB": "0", "resources:CUSTOM_BM": "1"}
        nova.flavors = [
            flavor("bm", extra_specs=free),
            flavor("gold", extra_specs={"trait:CUSTOM_GOLD": "required"}),
            flavor("lead", extra_specs={"trait:CUSTOM_GOLD": "forbidden"}),
        ]
        assert counts(bm={}) == {"bm": {"az-one": 2, "unknown": 1}}
        assert counts(gold={}) == {"gold": {"az-one": 2, "unknown": 0}}
        assert counts(lead={}) == {"lead": {"az-one": 2, "unknown": 2}}

    def one(self) -> dict[Any, Any]:
        return {"total": 1, "reserved": 0, "allocation_ratio": 1.0, "max_unit": 1, "min_unit": 1}

    def test_aliases(self, nova: Nova, counts: Callable[..., Any]) -> None:
        nova.flavors = [flavor("seven_old")]
        assert counts(seven={"aliases": ["older", "seven_old"]})["seven"]["az-one"] == 4

    @pytest.mark.parametrize(
        ("flavors", "message"),
        [
            ([], "Nova has no flavor 'seven', nor one of its aliases"),
            ([flavor("seven", vcpus=0, ram=0)], "flavor seven: its servers take nothing, so any number would fit"),
            (
                [flavor("seven", extra_specs={"resources:CUSTOM_BM": "some"})],
                "flavor seven: the extra spec resources:CUSTOM_BM is 'some'",
            ),
            ([flavor("seven", vcpus=None)], "flavor seven: the number of cores is None"),
        ],
    )
    def test_flavors_that_cannot_be_counted(
        self, nova: Nova, counts: Callable[..., Any], flavors: list[Any], message: str
    ) -> None:
        nova.flavors = flavors
        with pytest.raises(BackendError) as error:
            counts(seven={})
        assert message in str(error.value)


@pytest.mark.parametrize(
    ("path", "answer", "message"),
    [
        ("/v2.1/os-aggregates", (200, {"aggregates": [{"name": "vc-1"}]}), "objects with 'hosts'"),
        ("/v2.1/os-aggregates", (200, {"aggregates": ["vc-1"]}), "objects with 'hosts'"),
        ("/v2.1/os-hypervisors/detail", (200, {"hypervisors": [{"id": "u"}]}), "hypervisor u has no service.host"),
        ("/v2.1/os-hypervisors/detail", (403, {"forbidden": {"message": "no"}}), "refuses the user of Limes with 403: no"),
        ("/v2.1/flavors/detail", (200, {"flavors": [{"name": "f", "disk": "big"}]}), "flavor f: the disk is 'big'"),
        (
            "/placement/resource_providers/u-h1/inventories",
            (200, {"inventories": {"VCPU": {"total": 4}}}),
            "hypervisor h1.example, VCPU: the reserved part is None",
        ),
        ("/placement/resource_providers/u-h1/usages", (200, {}), "Placement's answer has no 'usages'"),
    ],
)  # fmt: skip
def test_errors_say_what_is_wrong(nova: Nova, path: str, answer: tuple[Any, ...], message: str) -> None:
    wrong = {("GET", path): lambda request: answer}
    nova.service.routes = {**wrong, **nova.service.routes, **wrong}  # the first that fits answers
    with pytest.raises(BackendError) as error:
        capacity(nova)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"hypervisor_selection": {}}, ".hypervisor_selection.aggregate_name_pattern: missing"),
        (
            {"hypervisor_selection": {"aggregate_name_pattern": "("}},
            ".hypervisor_selection.aggregate_name_pattern: is not a regular expression",
        ),
        (
            {"hypervisor_selection": {"aggregate_name_pattern": "", "required_traits": ["!!A"]}},
            ".required_traits[0]: expected the name of a trait",
        ),
        ({"pooled_ram_resource": "cores"}, "the three pooled_..._resource need different names"),
        ({"max_instances_per_aggregate": 0}, ".max_instances_per_aggregate: expected more than 0"),
    ],
)
def test_params_that_are_refused(params: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError) as error:
        load("http://127.0.0.1:9", **params)
    assert problem in str(error.value)
