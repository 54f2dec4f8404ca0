"""Quota that follows usage is computed without locks and written in pieces: what happens meanwhile is not lost."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from msgspec import structs

from limes.autogrow.distribute import DistributionOutcome, distribute_next
from limes.autogrow.queries import mark_due
from limes.backends import AZCapacity, AZUsage
from limes.collector.discover import request_sync
from limes.quota.constraints import NO_OVERRIDES, QuotaOverrides
from tests.autogrow.in_lab import az_quotas, due_at, history, make_used, set_due
from tests.collector.lab import GERMANY, Lab, once

CORES = ("compute", "cores")
GROWN = {"berlin": {"az-one": 24, "az-two": 36}, "dresden": {"az-one": 6}}


class Killed(BaseException):
    """A process that ends without cleaning up."""


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    return make_used(make_lab)


def distribute(
    lab: Lab, *, during: Callable[[], Any] = lambda: None, piece: int = 1
) -> Callable[[], DistributionOutcome | None]:
    """Does something after everything was read, and before anything is written."""
    act = once(during)

    def overrides() -> QuotaOverrides:
        act()
        return NO_OVERRIDES

    return partial(distribute_next, structs.replace(lab.limes, overrides=overrides), piece)


def scrape(lab: Lab, project: str, **usage: int) -> None:
    by_az = {az.replace("_", "-"): AZUsage(amount) for az, amount in usage.items()}
    lab.compute.usage[project] = {"cores": by_az}
    request_sync(lab.limes, GERMANY.id, f"p-{project}")
    assert lab.scrape_all() == 1


def mark_cores(lab: Lab) -> None:
    """Their quota is due."""
    ids = [id_ for (id_,) in lab.rows("SELECT id FROM resources WHERE name = 'cores'")]
    lab.engine.atomic(lambda: mark_due(lab.engine, ids, lab.now))


def test_nobody_waits_while_it_is_computed(lab: Lab) -> None:
    """Neither a scrape of one of the projects, nor who decides on the resource, such as about a commitment."""

    def others() -> None:
        works = [lambda: scrape(lab, "dresden", az_one=5, az_two=1), lambda: mark_cores(lab)]
        threads = [threading.Thread(target=work) for work in works]
        for thread in threads:
            thread.start()
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
        assert az_quotas(lab)["dresden"] == {"az-one": 5, "az-two": 1}

    assert distribute(lab, during=others)() == DistributionOutcome(CORES, True, 2)
    assert az_quotas(lab) == {**GROWN, "dresden": {"az-one": 6, "az-two": 1}}
    assert [each[2:4] for each in history(lab) if each[0] == "p-dresden"] == [(0, 5), (5, 6), (6, 7)]
    assert due_at(lab) == lab.now


def test_usage_that_rises_meanwhile_is_covered(lab: Lab) -> None:
    run = distribute(lab, during=lambda: scrape(lab, "berlin", az_one=40, az_two=30))
    assert run() == DistributionOutcome(CORES, True, 2)
    assert az_quotas(lab) == {**GROWN, "berlin": {"az-one": 40, "az-two": 36}}
    assert due_at(lab) == lab.now + 10


def test_usage_that_falls_meanwhile_is_seen_the_next_time(lab: Lab) -> None:
    run = distribute(lab, during=lambda: scrape(lab, "berlin", az_one=1, az_two=1))
    assert run() == DistributionOutcome(CORES, True, 2)
    assert az_quotas(lab) == GROWN


def test_capacity_that_changes_meanwhile_ends_it(lab: Lab) -> None:
    """What is computed anew at once is right."""

    def lose() -> None:
        lab.clock.advance(901)
        by_az = {az: AZCapacity(amount) for az, amount in {"az-one": 75, "az-two": 75}.items()}
        lab.capacitors["nova"].capacity = {"compute": {"cores": by_az}}
        assert lab.scrape_capacity()

    before = az_quotas(lab)
    assert distribute(lab, during=lose)() == DistributionOutcome(CORES, True, 0)
    assert az_quotas(lab) == before
    assert due_at(lab) <= lab.now
    lab.distribute_all()
    assert az_quotas(lab) == GROWN


@pytest.mark.parametrize(
    ("bound", "expected"),
    [("max_quota = 55", 55), ("min_quota = 200", 200), ("forbids_autogrowth = true", 50)],
    ids=["limit", "grant", "no growth"],
)
def test_a_project_whose_bounds_change_meanwhile_is_not_raised(lab: Lab, bound: str, expected: int) -> None:
    def change() -> None:
        lab.execute(f"UPDATE project_resources SET {bound} WHERE project_id = %s", lab.project_id())
        mark_cores(lab)

    assert distribute(lab, during=change)() == DistributionOutcome(CORES, True, 1)
    assert sum(az_quotas(lab)["berlin"].values()) == 50, "as before"
    lab.distribute_all()
    assert sum(az_quotas(lab)["berlin"].values()) == expected


def test_a_project_whose_bounds_change_meanwhile_is_lowered(lab: Lab) -> None:
    """Others may get what it had."""
    lab.execute("UPDATE project_resources SET quota = 90 WHERE project_id = %s AND quota = 50", lab.project_id())
    lab.execute("UPDATE project_az_quotas SET quota = 60 WHERE az = 'az-two'")
    lab.execute("UPDATE project_az_quotas SET quota = 30 WHERE az = 'az-one' AND quota = 20")

    def change() -> None:
        lab.execute("UPDATE project_resources SET max_quota = 80 WHERE project_id = %s", lab.project_id())

    assert distribute(lab, during=change)() == DistributionOutcome(CORES, True, 2)
    assert az_quotas(lab) == GROWN


def test_a_project_that_vanishes_meanwhile(lab: Lab) -> None:
    def vanish() -> None:
        lab.keystone.vanish("dresden")
        lab.discover()

    assert distribute(lab, during=vanish, piece=500)() == DistributionOutcome(CORES, True, 1)
    assert az_quotas(lab) == {"berlin": GROWN["berlin"]}


def test_people_who_set_quota_from_now_on(lab: Lab) -> None:
    before = az_quotas(lab)
    end = "UPDATE resources SET quota_due_at = NULL, quota_claimed_until = NULL"
    assert distribute(lab, during=lambda: lab.execute(end))() == DistributionOutcome(CORES, True, 0)
    assert az_quotas(lab) == before
    assert due_at(lab) is None


def test_only_one_computes_a_resource_though_it_is_due_again(lab: Lab) -> None:
    outcomes: list[DistributionOutcome | None] = []

    def mark() -> None:
        mark_cores(lab)
        outcomes.append(lab.distribute())

    outcomes.append(distribute(lab, during=mark)())
    assert outcomes == [None, DistributionOutcome(CORES, True, 2)]
    assert lab.distribute() == DistributionOutcome(CORES, True, 0), "because it was due again"
    assert lab.distribute() is None


def test_one_whose_claim_was_taken_over_writes_nothing(lab: Lab) -> None:
    """Neither quota nor how it went."""
    outcomes: list[DistributionOutcome | None] = []

    def take_over() -> None:
        lab.clock.advance(301)
        outcomes.append(lab.distribute())
        lab.execute("UPDATE project_az_quotas SET quota = 30 WHERE az = 'az-one' AND quota = 24")
        lab.execute("UPDATE project_resources SET quota = 66 WHERE quota = 60")

    outcomes.append(distribute(lab, during=take_over)())
    assert outcomes == [DistributionOutcome(CORES, True, 2), DistributionOutcome(CORES, True, 0)]
    assert az_quotas(lab) == {**GROWN, "berlin": {"az-one": 30, "az-two": 36}}
    assert due_at(lab) == lab.now + 900


def test_killed_between_two_pieces(lab: Lab) -> None:
    """What was written is there, with its history; the rest follows when the lease is over."""
    run = distribute(lab)
    atomic, count = lab.engine.atomic, [0]

    def die_in_the_third(work: Callable[[], Any]) -> Any:
        count[0] += 1
        if count[0] == 3:  # the first one claims, the second one writes
            raise Killed
        return atomic(work)

    lab.engine.atomic = die_in_the_third
    try:
        with pytest.raises(Killed):
            run()
    finally:
        del lab.engine.atomic
    assert az_quotas(lab) == {"berlin": {"az-one": 20, "az-two": 30}, "dresden": {"az-one": 6}}
    assert history(lab)[-1][:4] == ("p-dresden", "cores", 5, 6)
    assert lab.distribute() is None
    lab.clock.advance(300)
    assert lab.distribute() == DistributionOutcome(CORES, True, 1)
    assert az_quotas(lab) == GROWN


@pytest.mark.parametrize("piece", [1, 2, 500])
def test_the_size_of_pieces_does_not_matter(lab: Lab, piece: int) -> None:
    assert distribute(lab, piece=piece)() == DistributionOutcome(CORES, True, 2)
    assert az_quotas(lab) == GROWN
    set_due(lab, lab.now)
    assert distribute(lab, piece=piece)() == DistributionOutcome(CORES, True, 0)
