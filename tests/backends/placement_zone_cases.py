"""Where usage is, for the plugin `placement` with whichever Placement. Subclasses give the fixture `cloud`."""

import uuid
from typing import Any

import pytest

from limes.backends import UNKNOWN_AZ, BackendError, ProjectInfo, QuotaBackend, calls
from limes.catalog.catalog import Catalog, ResourceDef, ServiceDef, Unit
from tests.backends.conftest import AZS, load_capacity, load_quota
from tests.backends.placement_cases import TOKEN, project_named
from tests.backends.placement_cloud import PlacementCloud
from tests.backends.quota_cases import report, used
from tests.support.recorded import RecordedService

RESOURCES = {"cores": "VCPU", "ram": "MEMORY_MB", "disk": "DISK_GB"}
MISC_SHARES = "MISC_SHARES_VIA_AGGREGATE"


def load(cloud: PlacementCloud | RecordedService, zones: dict[str, Any], **params: Any) -> QuotaBackend:
    """The plugin as a service; what it knows of providers is looked up anew for each report."""
    settings = {
        "area": "compute",
        "endpoint": cloud.url,
        "auth": TOKEN,
        "resources": RESOURCES,
        "availability_zones": zones,
        "max_age": 0,
        **params,
    }
    return load_quota("placement", settings).quota["compute"]


class Zoned:
    """Hosts one (with its cores in a child) and two in their AZs, both in az-one and az-two, none in none; a disk pool
    that is shared by what is in az-one. The names of one and two, and traits, tell their AZs as well."""

    def __init__(self, cloud: PlacementCloud) -> None:
        self.key = uuid.uuid4().hex[:8]
        self.az_one, self.az_two = str(uuid.uuid4()), str(uuid.uuid4())
        self.zones = {"az-one": self.az_one, "az-two": [self.az_two]}
        self.traits = {f"az-{n}": {"traits": f"CUSTOM_AZ_{n.upper()}_{self.key.upper()}"} for n in ("one", "two")}
        self.names = {f"az-{n}": {"name_pattern": f"^{self.key}-{n}-"} for n in ("one", "two")}

        def host(name: str, inventories: dict[str, Any], *aggregates: str, parent: str | None = None) -> str:
            traits = tuple(zone["traits"] for az, zone in self.traits.items() if parent is None and az == f"az-{name}")
            return cloud.provider(
                f"{self.key}-{name}-", inventories, parent=parent, aggregates=aggregates, traits=traits
            )

        cores, ram = {"VCPU": {"total": 64}}, {"MEMORY_MB": {"total": 10000}}
        self.one = host("one", ram, self.az_one)
        self.numa = host("numa", cores, parent=self.one)
        self.two = host("two", cores | ram, self.az_two)
        self.both = host("both", cores, self.az_one, self.az_two)
        self.none = host("none", cores)
        self.pool = cloud.provider(
            "pool", {"DISK_GB": {"total": 500}}, traits=(MISC_SHARES,), aggregates=(self.az_one,)
        )


def put(
    cloud: PlacementCloud,
    consumer: str,
    project: ProjectInfo,
    allocations: dict[Any, Any],
    generation: int | None = None,
    kind: str = "INSTANCE",
) -> str:
    document = {
        "allocations": {provider: {"resources": amounts} for provider, amounts in allocations.items()},
        "project_id": project.id,
        "user_id": "tester",
        "consumer_generation": generation,
        "consumer_type": kind,
    }
    cloud.request("PUT", f"/allocations/{consumer}", json=document)
    return consumer


class ZoneCases:
    @pytest.fixture
    def hosts(self, cloud: PlacementCloud) -> Zoned:
        return Zoned(cloud)

    @pytest.fixture
    def alpha(self, cloud: PlacementCloud, hosts: Zoned) -> ProjectInfo:
        """Uses something everywhere, with a server over host one, its child and the pool."""
        alpha = project_named("alpha")
        self.server = put(
            cloud,
            str(uuid.uuid4()),
            alpha,
            {hosts.numa: {"VCPU": 4}, hosts.one: {"MEMORY_MB": 512}, hosts.pool: {"DISK_GB": 20}},
        )
        cloud.allocate(alpha.id, hosts.two, VCPU=8, MEMORY_MB=1024)
        cloud.allocate(alpha.id, hosts.both, VCPU=1)
        cloud.allocate(alpha.id, hosts.none, VCPU=2)
        cloud.allocate(alpha.id, hosts.two, "MIGRATION", VCPU=16)
        cloud.allocate(project_named("other").id, hosts.two, VCPU=32)
        return alpha

    def test_usage_is_where_its_providers_are(self, cloud: PlacementCloud, hosts: Zoned, alpha: ProjectInfo) -> None:
        backend = load(cloud, hosts.zones)
        assert used(backend, alpha) == {
            "cores": {"az-one": 4, "az-two": 24, "unknown": 3},
            "ram": {"az-one": 512, "az-two": 1024},
            "disk": {"az-one": 20},
        }
        assert used(backend, project_named("new")) == {}
        assert all(resource.az_aware for resource in backend.describe().resources.values())
        without = load(cloud, hosts.zones, consumer_types={"exclude": ["MIGRATION"]})
        assert used(without, alpha)["cores"] == {"az-one": 4, "az-two": 8, "unknown": 3}

    def test_without_zones_all_is_in_any(self, cloud: PlacementCloud, hosts: Zoned, alpha: ProjectInfo) -> None:
        for subresources in (False, True):
            backend = load(cloud, {}, with_subresources=subresources)
            assert used(backend, alpha)["cores"] == {"any": 31}
            assert not backend.describe().resources["cores"].az_aware

    def test_traits_and_names_tell_the_zone_as_well(
        self, cloud: PlacementCloud, hosts: Zoned, alpha: ProjectInfo
    ) -> None:
        for zones in (hosts.traits, hosts.names):
            assert used(load(cloud, zones), alpha)["cores"] == {"az-one": 4, "az-two": 24, "unknown": 3}
        mixed = {"az-one": {**hosts.names["az-one"], "aggregates": hosts.az_one}, "az-two": hosts.traits["az-two"]}
        assert used(load(cloud, mixed), alpha)["cores"] == {"az-one": 5, "az-two": 24, "unknown": 2}

    def test_capacity_and_usage_agree(self, cloud: PlacementCloud, hosts: Zoned, alpha: ProjectInfo) -> None:
        for zones in (hosts.zones, hosts.traits, hosts.names):
            params = {"service": "compute", "endpoint": cloud.url, "auth": TOKEN, "resources": RESOURCES}
            capacitor = load_capacity("placement", {**params, "availability_zones": zones}).capacity["under-test"]
            resources = {name: ResourceDef(name) for name in ("cores", "disk")} | {"ram": ResourceDef("ram", Unit.MIB)}
            catalog = Catalog(AZS, [ServiceDef("compute", "compute", resources)])
            capacity = calls.report_capacity(capacitor, "c", catalog).services["compute"]
            seen = {
                (one["uuid"], name): az
                for name, by_az in capacity.items()
                for az, part in by_az.items()
                for one in part.subcapacities
            }
            consumers = [
                (part["resource_provider"]["id"], name, az)
                for name, resource in report(load(cloud, zones, with_subresources=True), alpha).items()
                for az, usage in resource.per_az.items()
                for part in usage.subresources
            ]
            assert len(consumers) == 8
            assert all(seen[provider, name] == az for provider, name, az in consumers)

    def test_consumers_are_subresources(self, cloud: PlacementCloud, hosts: Zoned, alpha: ProjectInfo) -> None:
        found = report(load(cloud, hosts.zones, with_subresources=True), alpha)
        [core], [ram] = (found[name].per_az["az-one"].subresources for name in ("cores", "ram"))
        assert core == {
            "id": self.server,
            "consumer_type": "INSTANCE",
            "availability_zone": "az-one",
            "resource_provider": {"id": hosts.numa, "name": f"{hosts.key}-numa--{hosts.numa}"},
            "usage": 4,
        }
        assert (ram["id"], ram["usage"]) == (self.server, {"value": 512, "unit": "MiB"})
        assert {one["consumer_type"] for one in found["cores"].per_az["az-two"].subresources} == {
            "INSTANCE",
            "MIGRATION",
        }
        assert len(found["cores"].per_az["unknown"].subresources) == 2

    def test_usage_moves_grows_shrinks_and_ends(self, cloud: PlacementCloud, hosts: Zoned) -> None:
        beta = project_named("beta")
        backend = load(cloud, hosts.zones, max_age=3600)  # what is kept is found to be old
        assert used(backend, beta) == {}
        server = put(cloud, str(uuid.uuid4()), beta, {hosts.numa: {"VCPU": 4}})
        assert used(backend, beta) == {"cores": {"az-one": 4}}
        put(cloud, server, beta, {hosts.two: {"VCPU": 6}}, generation=1)
        assert used(backend, beta) == {"cores": {"az-two": 6}}
        other = cloud.allocate(beta.id, hosts.none, VCPU=1)
        assert used(backend, beta) == {"cores": {"az-two": 6, "unknown": 1}}
        cloud.request("DELETE", f"/allocations/{server}")
        assert used(backend, beta) == {"cores": {"unknown": 1}}
        cloud.request("DELETE", f"/allocations/{other}")
        cloud.request("DELETE", f"/resource_providers/{hosts.none}")
        assert used(backend, beta) == {}

    def test_a_provider_that_changes_its_zone_or_is_new(self, cloud: PlacementCloud, hosts: Zoned) -> None:
        beta = project_named("beta")
        backend = load(cloud, hosts.zones)
        fresh = cloud.provider("fresh", {"VCPU": {"total": 8}}, aggregates=(hosts.az_one,))
        cloud.allocate(beta.id, fresh, VCPU=3)
        assert used(backend, beta) == {"cores": {"az-one": 3}}
        generation = cloud.request("GET", f"/resource_providers/{fresh}").json()["generation"]
        body = {"resource_provider_generation": generation, "aggregates": [hosts.az_two]}
        cloud.request("PUT", f"/resource_providers/{fresh}/aggregates", json=body)
        assert used(backend, beta) == {"cores": {"az-two": 3}}

    def test_a_class_that_there_is_not_yet_is_not_used(
        self, cloud: PlacementCloud, hosts: Zoned, alpha: ProjectInfo
    ) -> None:
        backend = load(cloud, hosts.zones, resources={"cores": "VCPU", "gold": "CUSTOM_NOT_YET"})
        assert used(backend, alpha) == {"cores": {"az-one": 4, "az-two": 24, "unknown": 3}}
        assert report(backend, alpha)["gold"].per_az["any"].usage == 0

    def test_a_trait_that_there_is_not_is_an_error(self, cloud: PlacementCloud, alpha: ProjectInfo) -> None:
        with pytest.raises(BackendError, match="CUSTOM_NOWHERE"):
            report(load(cloud, {"az-one": {"traits": ["CUSTOM_NOWHERE"]}}), alpha)

    def test_an_aggregate_that_there_is_not_has_no_members(self, cloud: PlacementCloud, alpha: ProjectInfo) -> None:
        backend = load(cloud, {"az-one": str(uuid.uuid4())})
        assert used(backend, alpha)["cores"] == {UNKNOWN_AZ: 31}
