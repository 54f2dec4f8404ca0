"""The plugin `placement` on where usage is, by the allocations of a Placement without our extensions: what it takes in
requests, and that the sums are always those of `/usages`."""

import re
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from limes_plugins.openstack.client import ServiceClient

from limes.backends import BackendError, ProjectInfo
from tests.backends.placement_cases import project_named, usages_for
from tests.backends.placement_cloud import PlacementCloud, like_upstream, our_placement
from tests.backends.placement_zone_cases import ZoneCases, Zoned, load, put
from tests.backends.quota_cases import report, used
from tests.support.recorded import RecordedService

HOST, CONSUMER, AGGREGATE = (f"c0000000-0000-4000-8000-00000000000{n}" for n in range(3))
ALPHA = project_named("alpha")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that the plugin asks for, without UUIDs."""
    paths = []
    request = ServiceClient.request

    def counted(self: Any, method: str, path: str, **options: Any) -> Any:
        paths.append(re.sub(r"[0-9a-f-]{36}", "UUID", path))
        return request(self, method, path, **options)

    monkeypatch.setattr(ServiceClient, "request", counted)
    return paths


@pytest.fixture(scope="module", params=["ours", pytest.param("upstream", marks=[pytest.mark.real, pytest.mark.long])])
def cloud(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlacementCloud]:
    """The same cases find the same with both; upstream needs ten times as long."""
    if request.param == "upstream":
        yield PlacementCloud(request.getfixturevalue("upstream_placement").url)
        return
    folder = tmp_path_factory.mktemp("placement")
    with our_placement(f"sqlite:///{folder}/placement.db", like_upstream) as found:
        yield found


class TestAllocations(ZoneCases):
    def test_switched_off_all_is_in_any(
        self, cloud: PlacementCloud, hosts: Zoned, alpha: ProjectInfo, asked: list[str]
    ) -> None:
        backend = load(cloud, hosts.zones, read_allocations=False)
        assert used(backend, alpha)["cores"] == {"any": 31}
        assert asked == ["/", "/usages"]

    def test_only_what_has_changed_is_read_again(
        self, cloud: PlacementCloud, hosts: Zoned, alpha: ProjectInfo, asked: list[str]
    ) -> None:
        """`max_age` is so short that each scrape looks for changes."""
        backend = load(cloud, hosts.zones, max_age=1e-6)

        def scrape() -> tuple[Any, list[Any]]:
            asked.clear()
            cores = used(backend, alpha)["cores"]
            return cores, sorted(path for path in asked if "allocations" in path)

        assert scrape()[0] == {"az-one": 4, "az-two": 24, "unknown": 3}
        of_provider, of_consumer = "/resource_providers/UUID/allocations", "/allocations/UUID"
        assert scrape() == ({"az-one": 4, "az-two": 24, "unknown": 3}, [])
        server = cloud.allocate(alpha.id, hosts.two, VCPU=5)  # on a host that has four consumers already
        assert scrape() == ({"az-one": 4, "az-two": 29, "unknown": 3}, [of_consumer, of_provider])
        put(cloud, server, alpha, {hosts.numa: {"VCPU": 5}}, generation=1)
        cores, paths = scrape()
        assert cores == {"az-one": 9, "az-two": 24, "unknown": 3}
        assert (paths.count(of_consumer), paths.count(of_provider)) == (1, 1)
        cloud.request("DELETE", f"/allocations/{server}")  # the project's providers are looked through for it
        cores, paths = scrape()
        assert cores == {"az-one": 4, "az-two": 24, "unknown": 3}
        assert (paths.count(of_consumer), paths.count(of_provider)) == (1, 6)
        assert scrape() == ({"az-one": 4, "az-two": 24, "unknown": 3}, [])

    def test_within_max_age_one_request_is_enough(
        self, cloud: PlacementCloud, hosts: Zoned, alpha: ProjectInfo, asked: list[str]
    ) -> None:
        backend = load(cloud, hosts.zones, max_age=3600)
        used(backend, alpha)
        asked.clear()
        for _ in range(3):
            assert used(backend, alpha)["cores"] == {"az-one": 4, "az-two": 24, "unknown": 3}
        assert asked == ["/usages"] * 3

    def test_scrapes_at_the_same_time_share_what_is_read(
        self, cloud: PlacementCloud, hosts: Zoned, alpha: ProjectInfo, asked: list[str]
    ) -> None:
        others = [project_named(f"p{number}") for number in range(7)]
        for number, project in enumerate(others):
            cloud.allocate(project.id, (hosts.numa, hosts.two)[number % 2], VCPU=1)
        backend = load(cloud, hosts.zones, max_age=3600)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda project: used(backend, project)["cores"], [alpha, *others]))
        assert found[0] == {"az-one": 4, "az-two": 24, "unknown": 3}
        assert found[1:] == [{("az-one", "az-two")[number % 2]: 1} for number in range(7)]
        providers = len(cloud.request("GET", "/resource_providers").json()["resource_providers"])
        assert asked.count("/resource_providers/UUID/allocations") == providers

    def test_a_scrape_is_bounded_and_its_sums_are_right_all_the_time(
        self, cloud: PlacementCloud, hosts: Zoned, asked: list[str]
    ) -> None:
        """The first scrapes do not get through all providers and consumers; each one goes on."""
        beta = project_named("beta")
        for number in range(30):
            cloud.allocate(beta.id, (hosts.numa, hosts.two, hosts.none)[number % 3], VCPU=1)
        backend, seen = load(cloud, hosts.zones, max_age=3600, requests_per_scrape=10), []
        for _ in range(100):
            asked.clear()
            seen.append(used(backend, beta)["cores"])
            assert sum(seen[-1].values()) == 30
            assert len([path for path in asked if "allocations" in path]) <= 10
            if seen[-1] == {"az-one": 10, "az-two": 10, "unknown": 10}:
                break
        assert seen[0].get("unknown", 0) > 10
        assert seen[-1] == {"az-one": 10, "az-two": 10, "unknown": 10}


@pytest.fixture
def recorded() -> Iterator[RecordedService]:
    """A Placement without the extension, with one host and a consumer that uses 5 of its cores."""
    answers = {
        "usages": {"INSTANCE": {"VCPU": 5, "consumer_count": 1}},
        "listed": {
            "resource_provider_generation": 1,
            "allocations": {CONSUMER: {"resources": {"VCPU": 5}, "consumer_generation": 1}},
        },
        "consumer": {
            "allocations": {HOST: {"resources": {"VCPU": 5}, "generation": 1}},
            "project_id": ALPHA.id,
            "user_id": "me",
            "consumer_generation": 1,
            "consumer_type": "INSTANCE",
        },
    }
    host = {"uuid": HOST, "name": "host", "root_provider_uuid": HOST, "generation": 1}
    service = RecordedService(
        {
            ("GET", "/"): lambda request: (200, {"versions": [{"id": "v1.0"}]}),
            ("GET", "/usages"): lambda request: (200, {"usages": usages_for(request, answers["usages"])}),
            ("GET", "/resource_providers"): lambda request: (200, {"resource_providers": [host]}),
            ("GET", f"/resource_providers/{HOST}/allocations"): lambda request: (
                (404, {}) if answers["listed"] is None else (200, answers["listed"])
            ),
            ("GET", f"/allocations/{CONSUMER}"): lambda request: (200, answers["consumer"]),
        }
    )
    service.answers = answers
    yield service
    service.close()


@pytest.mark.parametrize(
    ("consumer_types", "microversion"),
    [({}, "1.37"), ({"exclude": ["MIGRATION"]}, "1.38"), ({"include": ["INSTANCE"]}, "1.38")],
)
def test_usages_are_grouped_by_type_only_where_types_matter(
    recorded: RecordedService, consumer_types: dict[str, Any], microversion: str
) -> None:
    """OpenStack's Placement on PostgreSQL cannot group them: it answers 500 from 1.38 on."""
    for zones in ({}, {"az-one": AGGREGATE}):
        recorded.asked.clear()
        assert sum(used(load(recorded, zones, consumer_types=consumer_types), ALPHA)["cores"].values()) == 5
        (asked,) = [request for request in recorded.asked if request.path == "/usages"]
        assert asked.headers["OpenStack-API-Version"] == f"placement {microversion}"


def test_never_more_than_the_total(recorded: RecordedService) -> None:
    backend = load(recorded, {"az-one": AGGREGATE})
    assert used(backend, ALPHA) == {"cores": {"az-one": 5}}
    recorded.answers["usages"] = {"INSTANCE": {"VCPU": 3, "consumer_count": 1}}
    assert used(backend, ALPHA) == {"cores": {"az-one": 3}}
    recorded.answers["usages"] = {}
    assert used(backend, ALPHA) == {}


def test_what_is_not_explained_is_in_unknown(recorded: RecordedService) -> None:
    recorded.answers["usages"] = {
        "INSTANCE": {"VCPU": 7, "MEMORY_MB": 10, "consumer_count": 2},
        "MIGRATION": {"VCPU": 100, "consumer_count": 1},
    }
    backend = load(recorded, {"az-one": AGGREGATE}, consumer_types={"exclude": ["MIGRATION"]})
    assert used(backend, ALPHA) == {"cores": {"az-one": 5, "unknown": 2}, "ram": {"unknown": 10}}


def test_a_provider_and_a_consumer_that_are_deleted_while_we_read(recorded: RecordedService) -> None:
    recorded.answers["consumer"] = {"allocations": {}}
    assert used(load(recorded, {"az-one": AGGREGATE}), ALPHA) == {"cores": {"unknown": 5}}
    recorded.answers["listed"] = None
    assert used(load(recorded, {"az-one": AGGREGATE}), ALPHA) == {"cores": {"unknown": 5}}


@pytest.mark.parametrize(
    ("answer", "change"),
    [
        ("listed", {"allocations": None}),
        ("listed", {"allocations": {CONSUMER: 5}}),
        ("listed", {"allocations": {CONSUMER: {"resources": {}}}}),
        ("listed", {"resource_provider_generation": None}),
        ("consumer", {"allocations": []}),
        ("consumer", {"allocations": {HOST: {}}}),
        ("consumer", {"allocations": {HOST: {"resources": {"VCPU": "5"}}}}),
        ("consumer", {"project_id": None}),
        ("consumer", {"consumer_generation": "x"}),
    ],
)
def test_malformed_allocations_are_errors(recorded: RecordedService, answer: str, change: dict[str, Any]) -> None:
    recorded.answers[answer] = {**recorded.answers[answer], **change}
    path = "/resource_providers/.*/allocations" if answer == "listed" else "/allocations/"
    with pytest.raises(BackendError, match=f"GET {path}"):
        report(load(recorded, {"az-one": AGGREGATE}), ALPHA)


def test_a_consumer_that_gets_another_project(cloud: PlacementCloud) -> None:
    hosts, first, second = Zoned(cloud), project_named("first"), project_named("second")
    backend = load(cloud, hosts.zones, max_age=3600)
    server = put(cloud, str(uuid.uuid4()), first, {hosts.two: {"VCPU": 4}})
    assert used(backend, first) == {"cores": {"az-two": 4}}
    put(cloud, server, second, {hosts.two: {"VCPU": 4}}, generation=1)
    assert used(backend, second) == {"cores": {"az-two": 4}}
    assert used(backend, first) == {}
