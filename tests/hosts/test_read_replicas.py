"""Both APIs with a real hot standby: clients see what they wrote, Placement never decides on old data."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from limes.app.composition.checks import problems_of
from limes.app.settings import parse
from limes.db.base import bind
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.db.replicas import ReplicatedEngine
from limes.db.standbys import Standby
from limes.kernel.findings import Level
from limes.kernel.system import SystemClock
from limes.placement.migrations import placement_migrations
from limes.placement.objects.vocabulary import prepare
from limes.web.middleware import HEADER
from tests.api.world import BERLIN, GERMANY, make_world
from tests.api.world import World as LimesWorld
from tests.doctor.patient import Patient
from tests.placement.world import World as PlacementWorld
from tests.placement.world import claim, uuid_of
from tests.setup.needs import POSTGRESQL
from tests.support.machine import require
from tests.support.postgres_replica import Replicated, replicated_postgres
from tests.support.processes import eventually

pytestmark = [pytest.mark.postgresql, pytest.mark.timeout(400)]
PROJECT = f"/v1/domains/{GERMANY}/projects/{BERLIN}"
MAX_LAG = 300.0


@pytest.fixture(scope="module")
def servers() -> Iterator[Replicated]:
    require(POSTGRESQL)
    with replicated_postgres() as servers:
        yield servers


@pytest.fixture
def pair(servers: Replicated, request: pytest.FixtureRequest) -> Replicated:
    """Both servers, with an empty database of the name `test`."""
    servers.resume()
    servers.primary.execute("DROP DATABASE IF EXISTS test WITH (FORCE)")
    servers.primary.execute("CREATE DATABASE test")
    engine = Engine(servers.url(servers.primary, "test"))
    for migrations in (limes_migrations, placement_migrations):
        migrations.upgrade(engine)
    prepare(engine, SystemClock())
    engine.close()
    servers.catch_up()
    return servers


@pytest.fixture
def make_engine(pair: Replicated) -> Iterator[Callable[[], ReplicatedEngine]]:
    """Makes the engine of one more worker, which has read from the standby already."""
    made: list[ReplicatedEngine] = []

    def make() -> ReplicatedEngine:
        primary, replica = (Engine(pair.url(node, "test")) for node in (pair.primary, pair.standby))
        bind(primary.db)
        engine = ReplicatedEngine(primary, [Standby(replica, "standby")], max_lag=MAX_LAG, label="test")
        made.append(engine)
        return engine

    yield make
    for engine in made:
        engine.close()


def use_standby(pair: Replicated, *engines: ReplicatedEngine) -> None:
    """Waits until all of them read from it."""
    for engine in engines:
        engine.take_position()
    pair.catch_up()
    for engine in engines:
        eventually("the standby is used", partial(_is_standby_read, engine))


def _is_standby_read(engine: ReplicatedEngine) -> bool:
    with engine.reading():
        return engine.rows("SELECT pg_is_in_recovery()") == [(True,)]


@pytest.fixture
def worlds(make_engine: Callable[[], ReplicatedEngine], pair: Replicated) -> tuple[LimesWorld, LimesWorld]:
    """Two workers of the Limes API."""
    one = make_world(make_engine())
    two = make_world(make_engine(), fill=False)
    use_standby(pair, one.engine, two.engine)  # type: ignore[arg-type]
    return one, two


def cores(world: LimesWorld, **headers: str) -> int:
    answer = world.request("GET", PROJECT, headers=headers)
    assert answer.status_code == 200, answer.text
    resources = answer.json["project"]["services"][0]["resources"]
    return next(one["quota"] for one in resources if one["name"] == "cores")


def set_cores(world: LimesWorld, quota: int) -> Any:
    body = {"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": quota}]}]}}
    answer = world.request("PUT", PROJECT, json=body)
    assert answer.status_code == 202, answer.text
    return answer


def test_who_writes_sees_it_and_others_see_it_later(worlds: tuple[LimesWorld, LimesWorld], pair: Replicated) -> None:
    one, two = worlds
    pair.pause()
    answer = set_cores(one, 23)
    position, cookie = answer.headers[HEADER], answer.cookies["limes-position-limes"]
    assert (cookie.value, cookie.max_age, cookie.path) == (position, MAX_LAG + 1, "/")
    assert cores(one) == 23, "the worker remembers"
    assert cores(two) == 20, "somebody else, at another worker, reads from the standby"
    assert cores(two, **{HEADER: position}) == 23
    assert cores(two, Cookie=f"limes-position-limes={position}") == 23
    pair.resume()
    pair.catch_up()
    assert cores(two) == 23


def test_positions_that_make_no_sense_are_ignored(worlds: tuple[LimesWorld, LimesWorld], pair: Replicated) -> None:
    pair.pause()
    set_cores(worlds[0], 23)
    for position in ["-1", "x", "12 34", "0x12", "1" * 17, "~", "", "12,34", "G"]:
        assert cores(worlds[1], **{HEADER: position}) == 20, position
        assert cores(worlds[1], Cookie=f"limes-position-limes={position}") == 20, position


def test_a_position_that_nobody_has_is_answered_by_the_primary(
    worlds: tuple[LimesWorld, LimesWorld], pair: Replicated
) -> None:
    pair.pause()
    set_cores(worlds[0], 23)
    assert cores(worlds[1], **{HEADER: "F" * 16}) == 23


def test_a_refused_write_leads_on_as_well(worlds: tuple[LimesWorld, LimesWorld], pair: Replicated) -> None:
    """What the client reads now must not be what it has just been refused for."""
    one, two = worlds
    tag = two.request("GET", PROJECT).headers["etag"]
    pair.pause()
    set_cores(one, 23)
    body = {"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": 24}]}]}}
    refused = two.request("PUT", PROJECT, json=body, headers={"If-Match": tag})
    assert refused.status_code == 412
    assert cores(two) == 23
    assert HEADER in refused.headers


def test_reads_have_no_position(worlds: tuple[LimesWorld, LimesWorld]) -> None:
    answer = worlds[0].request("GET", PROJECT)
    assert HEADER not in answer.headers
    assert "set-cookie" not in answer.headers


def test_all_projects_are_streamed_from_the_primary(worlds: tuple[LimesWorld, LimesWorld], pair: Replicated) -> None:
    pair.pause()
    set_cores(worlds[0], 23)
    assert '"quota":23' in worlds[1].request("GET", "/v1/projects").text


def test_allocations_are_never_decided_by_a_standby(
    make_engine: Callable[[], ReplicatedEngine], pair: Replicated
) -> None:
    """The standby still shows an empty provider: candidates know better, and so does the write."""
    engines = make_engine(), make_engine()
    one, two = PlacementWorld(engines[0]), PlacementWorld(engines[1])
    one.provider("h1", VCPU=4)
    use_standby(pair, *engines)
    pair.pause()
    assert one.allocate("c1", None, h1={"VCPU": 3}).status_code == 204
    usages = f"/resource_providers/{uuid_of('h1')}/usages"
    assert two.ok("GET", usages)["usages"] == {"VCPU": 0}, "the standby is what is read"
    assert two.ok("GET", "/allocation_candidates?resources=VCPU:2")["allocation_requests"] == []
    assert [one["generation"] for one in two.ok("GET", "/resource_providers")["resource_providers"]] == [2]
    body = claim(None, h1={"VCPU": 2})
    refused = two.call("PUT", f"/allocations/{uuid_of('c2')}", body)
    assert refused.status_code == 409
    assert HEADER in refused.headers
    assert two.ok("GET", usages)["usages"] == {"VCPU": 3}, "after the refusal the worker reads what led to it"


def test_what_nova_decides_on_is_never_old(make_engine: Callable[[], ReplicatedEngine], pair: Replicated) -> None:
    """A claim by another process: who reads that there is none takes nothing back, or claims beyond a quota.

    Nova's `delete_allocation_for_instance` reads a consumer's allocations, and does nothing where there are none; its
    cleanups of hosts read those of a provider; its quotas are counted from a project's usages.
    """
    engines = make_engine(), make_engine()
    one, two = PlacementWorld(engines[0]), PlacementWorld(engines[1])
    one.provider("h1", VCPU=4)
    use_standby(pair, *engines)
    pair.pause()
    assert one.allocate("c1", None, h1={"VCPU": 3}).status_code == 204
    assert two.ok("GET", f"/resource_providers/{uuid_of('h1')}/usages")["usages"] == {"VCPU": 0}, "from the standby"
    consumer = two.ok("GET", f"/allocations/{uuid_of('c1')}")
    assert consumer["allocations"] == {uuid_of("h1"): {"resources": {"VCPU": 3}, "generation": 2}}
    assert consumer["consumer_generation"] == 1
    assert list(two.ok("GET", f"/resource_providers/{uuid_of('h1')}/allocations")["allocations"]) == [uuid_of("c1")]
    for version, usages in ("1.37", {"VCPU": 3}), ("1.39", {"INSTANCE": {"VCPU": 3, "consumer_count": 1}}):
        assert two.ok("GET", "/usages?project_id=project", version=version)["usages"] == usages
    assert two.ok("GET", f"/resource_providers/{uuid_of('h1')}/usages")["usages"] == {"VCPU": 0}, "still from there"


def test_the_doctor_looks_at_standbys(pair: Replicated, tmp_path: Any) -> None:
    patient = Patient(tmp_path, pair.url(pair.primary, "test"))
    database = patient.document["database"]
    database |= {"read_urls": [pair.url(pair.standby, "test")], "max_replica_lag": 0.5}
    name = f"database.standby.127.0.0.1:{pair.standby.port}"
    found = {one.check: one for one in patient.findings("database")}
    assert found[name].level is Level.OK, found[name]
    pair.pause()
    pair.primary.execute("CREATE TABLE more (id INTEGER)")
    found = {one.check: one for one in patient.findings("database")}
    assert found[name].level is Level.WARNING
    assert "more than 0.5 s behind" in found[name].message
    database["read_urls"] = [pair.url(pair.primary, "test"), "postgresql://postgres@127.0.0.1:1/test"]
    messages = [one.message for one in patient.findings("database") if ".standby." in one.check]
    assert messages[0] == f"127.0.0.1:{pair.primary.port} is the primary at present, and left out"
    assert "the primary answers its reads" in messages[1]
    pair.resume()
    pair.standby.promote()
    database["read_urls"] = [pair.url(pair.standby, "test")]
    found = {one.check: one for one in patient.findings("database")}
    assert found[name].level is Level.WARNING
    assert "is no standby: it accepts writes" in found[name].message


def test_what_is_wrong_with_the_settings() -> None:
    document: dict[str, Any] = {"availability_zones": ["a"], "services": [{"service_type": "x", "type": "static"}]}

    def problems(**sections: Any) -> list[str]:
        return problems_of(parse({**document, **sections}, {}, Path()), ["addresses"])

    url = "postgresql://two/limes"
    assert problems(database={"read_urls": [url]}) == [
        "database.read_urls: only PostgreSQL has standbys, and database.url is SQLite"
    ]
    postgresql = {"url": "postgresql://one/limes"}
    assert problems(database={**postgresql, "read_urls": [url]}) == []
    assert problems(database={**postgresql, "read_urls": ["mysql://two/x", "sqlite:///x", "postgresql://a,b/x"]}) == [
        "database.read_urls[0]: unknown scheme 'mysql', expected sqlite:///path or postgresql://host/name",
        "database.read_urls[1]: expected postgresql://host/name",
        "database.read_urls[2]: names several servers; give each of them a URL of its own",
    ]
    assert problems(database=postgresql, placement={"read_urls": [url]}) == [
        "placement.read_urls: needs placement.database_url; the standbys of database.url are database.read_urls"
    ]
