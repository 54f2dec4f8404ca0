"""Pairs of deeds that must not both succeed, by 16 clients at once, with time to collide between decision and deed."""

import contextlib
import functools
import itertools
import json
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from msgspec import structs

from limes.audit.events import Initiator
from limes.catalog.catalog import Catalog
from limes.commitments import create, reshape
from limes.commitments.reshape import Conversion
from limes.commitments.rules import CommitmentRequest, CommitmentRules
from limes.commitments.settle import settle_commitments, settle_waiting
from limes.db.engine import Engine
from limes.kernel.errors import LimesError, NotFound, NotReady
from limes.kernel.system import SystemIds
from limes.projects import discovery
from limes.web.encoding import dump_part
from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS, SERVICES, make_world
from tests.commitments.commitments import BEHAVIORS, NOW
from tests.concurrency.test_quota import CLIENTS, at_once

RULES = CommitmentRules(
    self_delete_grace=3600, conversions=({("compute", "cores"): 1, ("volume", "capacity"): 1},), renewal_window=1e9
)
CATALOG = Catalog(["az-one", "az-two"], SERVICES, behaviors=BEHAVIORS)
JANE = Initiator("jane", "u1", "germany")
DOMAINS = {BERLIN: GERMANY, DRESDEN: GERMANY, PARIS: FRANCE}


class SlowIds(SystemIds):
    """All deeds take an id after they have decided, and before they write."""

    def uuid(self) -> str:
        time.sleep(0.004)
        return super().uuid()


class TickingClock:
    """Never shows the same time twice."""

    def __init__(self) -> None:
        self._ticks = itertools.count()

    def now(self) -> datetime:
        return datetime.fromtimestamp(NOW, UTC) + timedelta(milliseconds=next(self._ticks))

    def monotonic(self) -> float:
        return self.now().timestamp()


class Race:
    """The use cases on a database with capacity for 100 cores and 100 GiB in az-one; paris was scraped, too."""

    def __init__(self, engine: Engine) -> None:
        world = make_world(engine, behaviors=BEHAVIORS)
        self.engine = engine
        settings = world.limes.settings.model_copy(update={"commitments": RULES})
        self.limes = structs.replace(
            world.limes, catalog=CATALOG, clock=TickingClock(), ids=SlowIds(), settings=settings
        )
        self.jane = self.limes.as_initiator(JANE)
        self.world = world
        engine.atomic(self._fill)

    def _fill(self) -> None:
        run = self.engine.execute
        run("DELETE FROM project_az_resources")
        run("INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage)"
            " SELECT p.id, r.id, 0, 0, 0 FROM projects p CROSS JOIN resources r WHERE 1 = 1 ON CONFLICT DO NOTHING")  # fmt: skip
        run("INSERT INTO az_resources (resource_id, az, raw_capacity, subcapacities)"
            " SELECT id, 'az-one', 100, '[]' FROM resources WHERE name = 'capacity'")  # fmt: skip

    def commit(
        self, project: str = BERLIN, amount: int = 1, key: Any = None, az: str = "az-one", **fields: int
    ) -> dict[str, Any]:
        request = CommitmentRequest(("compute", "cores"), az, amount, fields.pop("duration", "1 year"), **fields)
        made = create.create_commitment(self.jane, DOMAINS[project], project, request, key)
        document: dict[str, Any] = json.loads(dump_part(made.document))
        return document

    def rows(self, sql: str, *params: str) -> list[tuple[Any, ...]]:
        with self.engine.connection():
            return self.engine.rows(sql, params)

    def live(self) -> dict[Any, Any]:
        """Amounts by project and resource of what is confirmed."""
        return {
            (project, resource): amount
            for project, resource, amount in self.rows(
                "SELECT p.name, r.name, SUM(c.amount) FROM project_commitments c JOIN projects p ON p.id = c.project_id"
                " JOIN resources r ON r.id = c.resource_id WHERE c.status = 'confirmed' GROUP BY p.name, r.name"
            )
        }

    def race(self, *deeds: Any) -> Counter[Any]:
        """Does all at once; answers how often each outcome came: `done`, or the name of an error of ours."""
        outcomes: list[str] = []

        def run(deed: Any) -> None:
            try:
                deed()
                outcomes.append("done")
            except LimesError as error:
                outcomes.append(type(error).__name__)

        at_once(*[functools.partial(run, deed) for deed in deeds])
        return Counter(outcomes)


@pytest.fixture
def race(engine: Engine) -> Race:
    return Race(engine)


def test_immediate_confirmations(race: Race) -> None:
    """Each wants 7 of 100: 14 get them."""
    deeds = [
        functools.partial(race.commit, project, 7) for project, _ in itertools.product((BERLIN, PARIS), range(CLIENTS))
    ]
    assert race.race(*deeds) == {"done": 14, "Conflict": 2 * CLIENTS - 14}
    assert sum(race.live().values()) == 98


def test_two_azs_and_usage_that_is_in_neither(race: Race) -> None:
    """201 cores are there, 61 of them in use nobody knows where: 140 can be sold, though each AZ has room for its half.

    Each wants 10; in turn those in one AZ and those in the other.
    """
    race.engine.execute(
        "INSERT INTO project_az_resources (project_id, resource_id, az, usage, subresources)"
        " SELECT 2, id, 'unknown', 61, '' FROM resources WHERE name = 'cores'"
    )
    deeds = [functools.partial(race.commit, BERLIN, 10, az=az) for az in ("az-one", "az-two") * 10]
    for _ in range(3):
        assert race.race(*deeds) == {"done": 14, "Conflict": 6}
        assert sum(race.live().values()) == 140
        race.engine.execute("DELETE FROM project_commitments")


def test_the_job_in_many_places_and_new_ones_meanwhile(race: Race) -> None:
    """16 wait for 10 each, and 100 are there; 16 others want them at once. Those that wait are served first."""
    race.engine.execute("UPDATE az_resources SET raw_capacity = 0")
    waiting = [race.commit(PARIS, 10, confirm_by=NOW + 10) for _ in range(CLIENTS)]
    race.engine.execute("UPDATE project_commitments SET confirm_by = %s, status = 'pending'", [NOW])
    race.engine.execute("UPDATE az_resources SET raw_capacity = 100")
    jobs = [functools.partial(job, race.limes) for job in (settle_commitments, settle_waiting)] * (CLIENTS // 2)
    outcomes = race.race(*jobs, *[functools.partial(race.commit, BERLIN, 10)] * CLIENTS)
    assert outcomes == {"done": CLIENTS, "Conflict": CLIENTS}
    assert race.live() == {("paris", "cores"): 100}
    confirmed = race.rows("SELECT commitment_uuid FROM commitment_events WHERE event = 'confirmed' ORDER BY number")
    assert [uuid for (uuid,) in confirmed] == [one["uuid"] for one in waiting[:10]]  # each once, in their order


def test_one_token_is_taken_once(race: Race) -> None:
    for _ in range(5):
        made = race.commit(amount=5)
        token = reshape.offer_commitment(
            race.jane, GERMANY, BERLIN, made["id"], 5, "unlisted"
        ).commitment.transfer_token
        deeds = [
            functools.partial(reshape.take_commitment, race.jane, DOMAINS[project], project, made["id"], token)
            for project in (DRESDEN, PARIS) * (CLIENTS // 2)
        ]
        assert race.race(*deeds) == {"done": 1, "NotFound": CLIENTS - 1}
    assert sum(race.live().values()) == 25
    events = race.rows("SELECT COUNT(*) FROM commitment_events WHERE event = 'transferred'")
    assert events == [(5,)]


def test_of_all_that_can_become_of_a_commitment_one_thing_does(race: Race) -> None:
    """Merged, deleted, split, converted, transferred: what is left adds up, whoever came first."""
    for _ in range(6):
        before = sum(race.live().values())
        one, two = race.commit(amount=4)["id"], race.commit(amount=4)["id"]
        part = Conversion(("volume", "capacity"), 4, 4)
        deeds = [
            functools.partial(reshape.merge_commitments, race.jane, GERMANY, BERLIN, [one, two]),
            functools.partial(create.delete_commitment, race.jane, GERMANY, BERLIN, one, as_admin=False),
            functools.partial(reshape.offer_commitment, race.jane, GERMANY, BERLIN, one, 1, "public"),
            functools.partial(reshape.convert_commitment, race.jane, GERMANY, BERLIN, one, part),
        ]
        outcomes = race.race(*deeds * (CLIENTS // len(deeds)))
        assert set(outcomes) <= {"done", "NotFound", "Conflict"}
        deleted = race.rows(
            "SELECT COUNT(*) FROM commitment_events WHERE event = 'deleted' AND document LIKE %s", f'{{"id":{one},%'
        )[0][0]
        assert deleted <= 1
        assert outcomes["done"] == 1
        assert sum(race.live().values()) == before + 8 - 4 * deleted
    assert_events_add_up(race)


def test_a_commitment_is_renewed_once(race: Race) -> None:
    made = race.commit(amount=4)
    outcomes = race.race(*[lambda: reshape.renew_commitment(race.jane, GERMANY, BERLIN, made["id"])] * CLIENTS)
    assert outcomes == {"done": 1, "Conflict": CLIENTS - 1}
    assert race.rows("SELECT status, amount FROM project_commitments ORDER BY id") == [("confirmed", 4), ("planned", 4)]


def test_one_key_by_two_clients_with_different_wishes(race: Race) -> None:
    """One of the two wins; whoever asks for the same gets the same answer, and the others are told."""
    for number in range(4):
        key = f"order-{number}"
        found: list[str] = []
        deeds = [
            lambda amount=amount, key=key, found=found: found.append(str(race.commit(amount=amount, key=key)))
            for amount in (1, 2) * (CLIENTS // 2)
        ]
        outcomes = race.race(*deeds)
        assert outcomes == {"done": CLIENTS // 2, "Unprocessable": CLIENTS // 2}
        assert len(set(found)) == 1
    assert race.rows("SELECT COUNT(*) FROM project_commitments") == [(4,)]


def test_times_of_events_do_not_run_backwards(race: Race) -> None:
    cores = [functools.partial(race.commit, project, 1) for project in (BERLIN, DRESDEN, PARIS)] * 5
    volume = CommitmentRequest(("volume", "capacity"), "az-one", 1, "1 year")
    other = [lambda: create.create_commitment(race.jane, GERMANY, BERLIN, volume)] * CLIENTS
    race.race(*cores, *other)
    times = [at for (at,) in race.rows("SELECT at FROM commitment_events ORDER BY number")]
    assert len(times) == len(cores) + len(other)
    assert times == sorted(times)


def test_a_project_vanishes_while_it_commits(race: Race) -> None:
    """Either its commitment was there first and keeps it, or there is nothing left of both."""

    def vanish() -> None:
        def work() -> None:
            discovery.lock_projects(race.engine, [PARIS])
            if not discovery.committed_projects(race.engine, [PARIS]):
                discovery.delete_projects(race.engine, [PARIS])

        race.engine.atomic(work)

    def commit() -> None:
        with contextlib.suppress(NotFound, NotReady):
            race.commit(PARIS, 1)

    at_once(*[vanish, commit] * (CLIENTS // 2))
    left = race.rows("SELECT COUNT(*) FROM projects WHERE uuid = %s", PARIS)[0][0]
    made = race.rows("SELECT COUNT(*) FROM commitment_events WHERE event = 'created'")[0][0]
    assert race.live() == ({("paris", "cores"): made} if left else {})
    assert left or not made


def test_conversions_there_and_back(race: Race) -> None:
    """Both lock both resources, in one order: nobody waits in a circle."""
    there, back = Conversion(("volume", "capacity"), 1, 1), Conversion(("compute", "cores"), 1, 1)
    cores = [race.commit(amount=1)["id"] for _ in range(CLIENTS)]
    volume = CommitmentRequest(("volume", "capacity"), "az-one", 1, "1 year")
    volumes = [create.create_commitment(race.jane, GERMANY, BERLIN, volume).document.id for _ in range(CLIENTS)]
    deeds = [
        functools.partial(reshape.convert_commitment, race.jane, GERMANY, BERLIN, number, wanted)
        for numbers in zip(cores, volumes, strict=True)
        for number, wanted in zip(numbers, (there, back), strict=True)
    ]
    assert race.race(*deeds) == {"done": 2 * CLIENTS}
    assert race.live() == {("berlin", "cores"): CLIENTS, ("berlin", "capacity"): CLIENTS}
    assert_events_add_up(race)


def assert_events_add_up(race: Race) -> None:
    """What was created and not superseded, deleted or expired is what is there."""
    total = 0
    for event, document in race.rows("SELECT event, document FROM commitment_events"):
        amount = orjson.loads(document)["amount"]
        total += {"created": amount, "superseded": -amount, "deleted": -amount, "expired": -amount}.get(event, 0)
    assert total == sum(race.live().values())
