"""Each critical alert about commitments fires when its cause happens, is told once, and ends with its cause.

Only requests, jobs, what a capacitor reports, and the clock make things happen.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec import structs

from limes.backends import AZCapacity
from limes.collector.scrape_capacity import scrape_next_capacitor
from limes.notifications import queries as mails
from limes.reports.metrics import AlertGauges
from tests.api.world import FRANCE, GERMANY, World
from tests.collector.lab import FakeCapacitor, NoJitter
from tests.commitments.commitments import BEHAVIORS, NOW, PATHS, amounts, commit, offer
from tests.commitments.test_auto_renewal import DAY, YEAR, run_job, switch
from tests.notifications.test_notifications import kinds, notifier, told
from tests.quota.quotas import request_quotas

NOTHING = {"alerts": [], "counts": {"critical": 0, "warning": 0}}
UNCONFIRMED = ("commitment_unconfirmed", "critical")
NOT_RENEWED = ("auto_renewal_failed", "critical")
ENDS_SOON, ENDS_VERY_SOON = ("commitment_expires", "warning"), ("commitment_expires", "critical")


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    """Nothing in it is worth an alert, and the job that tells people has run before."""
    world = make(behaviors=BEHAVIORS)
    request_quotas(world, PATHS["dresden"], {"cores": 60})  # it uses 31
    assert tell(world) == firing(world) == []
    return world


def firing(world: World) -> list[tuple[str, str]]:
    """Kind and severity of what all see who look at berlin, and what the metric counts. Nobody else sees any."""
    found = world.get("/v1/alerts")
    assert world.get(f"/v1/domains/{GERMANY}/alerts", "germany-viewer") == found
    assert world.get(f"{PATHS['berlin']}/alerts", "berlin-reader") == found
    assert world.get(f"/v1/domains/{FRANCE}/alerts", "france-admin") == NOTHING
    assert world.get(f"{PATHS['dresden']}/alerts", "dresden-admin") == NOTHING
    assert {alert["project"]["name"] for alert in found["alerts"]} <= {"berlin"}
    shown = [(alert["kind"], alert["severity"], alert["service"]) for alert in found["alerts"]]
    severities = Counter(severity for _, severity, _ in shown)
    assert found["counts"] == {severity: severities[severity] for severity in ("critical", "warning")}
    assert metric(world) == Counter(shown)
    return [each[:2] for each in shown]


def metric(world: World) -> Mapping[Any, float]:
    """What the metric counts, by kind, severity and service."""
    family, _ = AlertGauges(world.limes).collect()
    samples = {tuple(sample.labels.values()): sample.value for sample in family.samples}
    return {labels: value for labels, value in samples.items() if value}


def tell(world: World) -> list[tuple[str, str | None]]:
    """Runs the job that tells people. Returns kind and severity of what is new; a second run has nothing to tell."""
    known, job = len(told(world)), notifier(world)
    new = job()
    assert job() == 0
    assert len(told(world)) == known + new
    return kinds(world)[known:]


def remembered(world: World) -> list[str]:
    """The kinds of alerts that were told and have not ended, for all that the job knows."""
    return [kind for kind, _ in mails.states(world.engine)]


def scrape_capacity(world: World, capacitor: FakeCapacitor, amount: int) -> None:
    """The capacitor has so much storage when it is due again."""
    capacitor.capacity = {"volume": {"capacity": {"az-one": AZCapacity(amount)}}}
    world.clock.advance(900)
    backends = structs.replace(world.limes.backends, capacity={"inventory": capacitor})
    outcome = scrape_next_capacitor(structs.replace(world.limes, backends=backends, jitter=NoJitter()))
    assert outcome is not None
    assert outcome.success


def test_there_is_no_capacity_when_it_should_be_confirmed(cloud: World) -> None:
    storage = {"service_type": "volume", "resource_name": "capacity", "duration": "1 year"}
    made = commit(cloud, **storage, confirm_by=NOW + DAY)
    cloud.clock.advance(DAY - 1)
    run_job(cloud)
    assert firing(cloud) == tell(cloud) == []
    cloud.clock.advance(1)
    assert firing(cloud) == tell(cloud) == [], "nobody has looked for capacity yet"
    run_job(cloud)
    assert amounts(cloud) == [(10, "pending")]
    assert firing(cloud) == tell(cloud) == [UNCONFIRMED]
    assert told(cloud)[-1]["commitment"]["uuid"] == made["uuid"]
    (alert,) = cloud.get("/v1/alerts")["alerts"]
    assert alert["commitment"]["confirm_by"] == NOW + DAY
    run_job(cloud)
    capacitor = FakeCapacitor()
    scrape_capacity(cloud, capacitor, 12)  # of which berlin uses 3 in an unknown AZ
    assert (firing(cloud), tell(cloud)) == ([UNCONFIRMED], [])
    scrape_capacity(cloud, capacitor, 13)
    assert amounts(cloud) == [(10, "confirmed")]
    assert (firing(cloud), tell(cloud)) == ([], [("commitment_confirmed", None)])
    assert told(cloud)[-1]["commitment"]["uuid"] == made["uuid"]
    assert remembered(cloud) == []


def test_nothing_is_told_of_what_is_confirmed_in_time(cloud: World) -> None:
    """The job that tells people may come between the date and the job that confirms."""
    commit(cloud, duration="1 year", confirm_by=NOW + DAY)
    cloud.clock.advance(DAY + 20)
    assert firing(cloud) == tell(cloud) == []
    run_job(cloud)
    assert amounts(cloud) == [(10, "confirmed")]
    assert (firing(cloud), tell(cloud)) == ([], [("commitment_confirmed", None)])


def test_it_cannot_renew_itself(cloud: World) -> None:
    """Whoever offers it to others has promised them this one, so it is not renewed meanwhile."""
    made = commit(cloud, duration="1 year", auto_renew=True)
    assert offer(cloud, made["id"], 10).status_code == 202
    cloud.clock.advance(YEAR - 28 * DAY - 1)
    run_job(cloud)
    assert firing(cloud) == tell(cloud) == []
    cloud.clock.advance(1)
    run_job(cloud)
    assert firing(cloud) == tell(cloud) == [NOT_RENEWED]
    refusal = f"commitment {made['id']} is marked for transfer; withdraw that first"
    (alert,) = cloud.get("/v1/alerts")["alerts"]
    assert alert["commitment"]["auto_renew_error"] == told(cloud)[-1]["commitment"]["auto_renew_error"] == refusal
    cloud.clock.advance(DAY)
    run_job(cloud)
    assert (firing(cloud), tell(cloud)) == ([NOT_RENEWED], []), "it was tried again"
    assert offer(cloud, made["id"], 10, status="").status_code == 202
    assert firing(cloud) == [NOT_RENEWED], "nobody has tried again"
    run_job(cloud)
    assert amounts(cloud) == [(10, "confirmed"), (10, "planned")]
    assert (firing(cloud), tell(cloud)) == ([], [("commitment_renewed", None)])
    assert remembered(cloud) == []


def renew(world: World, id_: int) -> None:
    assert world.request("POST", f"{PATHS['berlin']}/commitments/{id_}/renew", json={}).status_code == 202


def let_it_renew_itself(world: World, id_: int) -> None:
    assert switch(world, id_, True).status_code == 200


def let_it_end(world: World, id_: int) -> None:
    world.clock.advance(7 * DAY - 1)
    assert firing(world) == [ENDS_VERY_SOON]
    world.clock.advance(1)


@pytest.mark.sql
@pytest.mark.parametrize(
    ("end", "left"),
    [
        (renew, [(10, "confirmed"), (10, "planned")]),
        (let_it_renew_itself, [(10, "confirmed"), (10, "planned")]),
        (let_it_end, []),
    ],
)
def test_it_ends_soon(cloud: World, end: Callable[[World, int], None], left: list[tuple[int, str]]) -> None:
    made = commit(cloud, duration="1 year")
    assert (made["status"], made["expires_at"]) == ("confirmed", NOW + YEAR)
    for before, expected in ((28 * DAY, [ENDS_SOON]), (7 * DAY, [ENDS_VERY_SOON])):
        already = firing(cloud)
        cloud.clock.advance(made["expires_at"] - before - 1 - cloud.clock.now().timestamp())
        run_job(cloud)
        assert (firing(cloud), tell(cloud)) == (already, [])
        cloud.clock.advance(1)
        run_job(cloud)
        assert firing(cloud) == tell(cloud) == expected
        assert told(cloud)[-1]["commitment"]["uuid"] == made["uuid"]
    end(cloud, made["id"])
    assert (firing(cloud), tell(cloud), remembered(cloud)) == ([], [], [])
    run_job(cloud)
    assert (firing(cloud), amounts(cloud)) == ([], left)
