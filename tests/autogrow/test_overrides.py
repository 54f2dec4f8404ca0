"""Quota overrides in a running collector: those without effect, and what is computed when the file changes."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from msgspec import structs

from limes.backends import AZUsage
from limes.catalog.catalog import AutogrowRule, BehaviorRule, DistributionRule
from limes.collector.discover import request_sync
from limes.collector.follow_configuration import FollowOverrides
from limes.kernel.errors import Unavailable
from limes.kernel.metrics import SampleCollector
from limes.quota import change_log
from limes.quota.constraints import NO_OVERRIDES, QuotaOverrides
from limes.reports.inconsistencies import Reason, find_ineffective
from limes.reports.metrics import ineffective_overrides, override_validity
from tests.collector.lab import BERLIN, GERMANY, Lab
from tests.commitments.in_lab import add
from tests.support.clock import FrozenClock

CORES, RAM, CAPACITY = ("compute", "cores"), ("compute", "ram"), ("volume", "capacity")
DISTRIBUTIONS = [DistributionRule(re.compile("compute/.*"), "autogrow", autogrow=AutogrowRule(1.2))]
BEHAVIORS = [
    BehaviorRule(resource="compute/cores", commitment_durations=("1 year",), commitment_is_az_aware=True),
    BehaviorRule(resource="compute/ram", commitment_durations=("1 year",)),
]


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    """Quota of compute grows by itself; berlin uses 5 cores in each of two AZs, to which it can commit."""
    lab = make_lab(catalog_options={"distributions": DISTRIBUTIONS, "behaviors": BEHAVIORS})
    lab.discover()
    lab.compute.usage["berlin"] = {"cores": {"az-one": AZUsage(5), "az-two": AZUsage(5)}}
    lab.scrape_all()
    return lab


def ineffective(lab: Lab, quotas: Any) -> list[tuple[Any, ...]]:
    found = find_ineffective(lab.limes, QuotaOverrides(quotas))
    return [(each.override.project, each.override.ref, each.reason, each.needed) for each in found]


def test_what_has_no_effect(lab: Lab) -> None:
    quotas = {
        ("germany", "berlin"): {CORES: 9, RAM: 0, CAPACITY: 1},
        ("germany", "paris"): {CORES: 100},
        ("france", "paris"): {CORES: 0},
    }
    assert ineffective(lab, quotas) == [
        ("berlin", CORES, Reason.BELOW_NEED, 10),
        ("berlin", CAPACITY, Reason.NOT_AUTOGROW, 0),
        ("paris", CORES, Reason.NO_PROJECT, 0),
    ]
    assert ineffective(lab, {("germany", "berlin"): {CORES: 10}}) == []


def test_commitments_count_by_az(lab: Lab) -> None:
    """10 committed and 5 used in one AZ need 10 there; what has ended needs nothing. Where commitments are for no AZ,
    they cover usage in all of them."""
    lab.compute.usage["berlin"]["ram"] = {"az-one": AZUsage(4), "az-two": AZUsage(3)}
    request_sync(lab.limes, GERMANY.id, BERLIN.id)
    lab.scrape_all()
    add(lab, 1, 10, status="confirmed")
    add(lab, 2, 10, status="confirmed", expires_at=lab.now - 1)
    add(lab, 3, 10)
    add(lab, 4, 10, status="confirmed", resource="ram", az="any")
    assert ineffective(lab, {("germany", "berlin"): {CORES: 14}}) == [("berlin", CORES, Reason.BELOW_NEED, 15)]
    assert ineffective(lab, {("germany", "berlin"): {CORES: 15, RAM: 10}}) == []
    assert ineffective(lab, {("germany", "berlin"): {RAM: 9}}) == [("berlin", RAM, Reason.BELOW_NEED, 10)]


def figures(*gauges: SampleCollector) -> dict[tuple[Any, ...], float]:
    return {
        (sample.name, *sample.labels.values()): sample.value
        for gauge in gauges
        for family in gauge.collect()
        for sample in family.samples
    }


def test_the_metric(lab: Lab) -> None:
    overrides = [QuotaOverrides({("germany", "berlin"): {CORES: 9}, ("germany", "bonn"): {CORES: 1, RAM: 1}})]
    valid = [True]
    limes = structs.replace(lab.limes, overrides=lambda: overrides[0])
    gauges = (override_validity(lambda: valid[0]), ineffective_overrides(limes))
    name = "limes_ineffective_quota_overrides"
    assert figures(*gauges) == {
        ("limes_quota_overrides_valid",): 1,
        (name, "no-project"): 2,
        (name, "not-autogrow"): 0,
        (name, "below-need"): 1,
    }
    overrides[0], valid[0] = NO_OVERRIDES, False
    assert set(figures(*gauges).values()) == {0}


def due(lab: Lab) -> dict[str, bool]:
    """Whether quota of each resource is due; those that people set are missing."""
    rows = lab.rows("SELECT name, quota_due_at FROM resources WHERE quota_due_at IS NOT NULL")
    return {name: due_at <= lab.now for name, due_at in rows}


def nothing_is_due(lab: Lab) -> None:
    lab.execute("UPDATE resources SET quota_due_at = %s WHERE name IN ('cores', 'ram')", lab.now + 900)
    assert not any(due(lab).values())


def test_a_change_of_the_file_has_quota_computed(lab: Lab) -> None:
    overrides = [QuotaOverrides({("germany", "berlin"): {CORES: 9, CAPACITY: 1}})]
    follow = FollowOverrides(structs.replace(lab.limes, overrides=lambda: overrides[0]))
    nothing_is_due(lab)
    assert follow.run() is True
    assert due(lab) == {"cores": True, "ram": False}
    nothing_is_due(lab)
    assert follow.run() is False, "it has seen them"
    assert not any(due(lab).values())
    overrides[0] = QuotaOverrides({("germany", "berlin"): {CORES: 9}, ("germany", "bonn"): {RAM: 1}})
    assert follow.run() is True
    assert due(lab) == {"cores": False, "ram": True}, "only what differs; nothing computes quota that people set"
    nothing_is_due(lab)
    overrides[0] = NO_OVERRIDES
    assert follow.run() is True
    assert due(lab) == {"cores": True, "ram": True}


def recorded(lab: Lab) -> list[tuple[Any, ...]]:
    return lab.rows(
        "SELECT resource_name, old, new, reason, initiator_id FROM quota_history WHERE what = 'override'"
        " ORDER BY number"
    )


def test_a_change_of_the_file_is_recorded_once(lab: Lab) -> None:
    """By whichever collector sees it first; and not what is about no project, or has no effect."""
    overrides = [QuotaOverrides({("germany", "berlin"): {CORES: 9, CAPACITY: 1}, ("germany", "rome"): {CORES: 1}})]
    limes = structs.replace(lab.limes, overrides=lambda: overrides[0])
    collectors = [FollowOverrides(limes), FollowOverrides(limes)]
    for follow in collectors:
        follow.run()
    assert recorded(lab) == [("cores", None, 9, "override", "")]
    overrides[0] = QuotaOverrides({("germany", "berlin"): {CORES: 12, RAM: 64}})
    for follow in [*collectors, FollowOverrides(limes)]:
        follow.run()
    assert sorted(recorded(lab)[1:]) == [("cores", 9, 12, "override", ""), ("ram", None, 64, "override", "")]
    overrides[0] = NO_OVERRIDES
    for follow in collectors:
        follow.run()
    assert sorted(recorded(lab)[3:]) == [("cores", 12, None, "override", ""), ("ram", 64, None, "override", "")]


def test_old_history_goes_but_what_is_in_force_is_known(lab: Lab) -> None:
    overrides = QuotaOverrides({("germany", "berlin"): {CORES: 9}})
    follow = FollowOverrides(structs.replace(lab.limes, overrides=lambda: overrides))
    follow.run()
    lab.execute("UPDATE quota_history SET at = 1")
    change_log.forget_history(lab.limes)
    assert lab.rows("SELECT what FROM quota_history") == [("override",)]
    FollowOverrides(structs.replace(lab.limes, overrides=lambda: overrides)).run()
    assert len(recorded(lab)) == 1


class BrokenClock(FrozenClock):
    """Fails once, as a database would that does not answer."""

    is_broken = True

    def now(self) -> datetime:
        if self.is_broken:
            self.is_broken = False
            raise Unavailable("not now")
        return super().now()


def test_a_change_that_could_not_be_marked_is_marked_later(lab: Lab) -> None:
    overrides = QuotaOverrides({("germany", "berlin"): {CORES: 9}})
    follow = FollowOverrides(structs.replace(lab.limes, clock=BrokenClock(), overrides=lambda: overrides))
    nothing_is_due(lab)
    with pytest.raises(Unavailable):
        follow.run()
    assert follow.run() is True
    assert due(lab)["cores"] is True
