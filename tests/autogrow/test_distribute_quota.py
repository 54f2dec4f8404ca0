"""Quota that follows usage and commitments: how much of it projects get, and why."""

from collections.abc import Callable

import pytest
from msgspec import structs

from limes.autogrow.advice import BoundSource
from limes.autogrow.distribute import DistributionOutcome, explain_allocation
from limes.autogrow.rules import Step
from limes.kernel.units import MAX_AMOUNT
from limes.quota.constraints import Constraint, ConstraintSet, QuotaOverrides
from limes.quota.push_quota import push_quota
from tests.autogrow.in_lab import (
    DAY,
    GROWTH,
    az_quotas,
    distributions,
    due_at,
    history,
    kept_changes,
    make_growing,
    make_used,
    provide,
    set_due,
    use,
)
from tests.collector.lab import Lab
from tests.commitments.in_lab import YEAR, add
from tests.support.rows import all_rows, changes

CORES = ("compute", "cores")


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    return make_used(make_lab)


def test_what_is_used_is_granted_with_the_first_scrape(lab: Lab) -> None:
    assert az_quotas(lab) == {"berlin": {"az-one": 20, "az-two": 30}, "dresden": {"az-one": 5}}
    assert history(lab) == [
        ("p-berlin", "cores", 0, 50, "autogrow", "50 used", "limes"),
        ("p-dresden", "cores", 0, 5, "autogrow", "5 used", "limes"),
    ]


def test_growth(lab: Lab) -> None:
    assert lab.distribute() == DistributionOutcome(CORES, True, 2)
    assert az_quotas(lab) == {"berlin": {"az-one": 24, "az-two": 36}, "dresden": {"az-one": 6}}
    assert [row[:5] for row in history(lab)[2:]] == [
        ("p-berlin", "cores", 50, 60, "autogrow"),
        ("p-dresden", "cores", 5, 6, "autogrow"),
    ]
    assert history(lab)[2][5] == "50 for usage and commitments, 10 for growth (50 used)"
    assert due_at(lab) == lab.now + 900
    assert lab.distribute() is None


def test_usage_of_late(lab: Lab) -> None:
    """Quota falls once usage has been lower for the retention period, and grows once it was higher for so long."""
    lab.distribute_all()
    use(lab, berlin={"az-one": 10, "az-two": 50})
    lab.distribute_all()
    assert az_quotas(lab)["berlin"] == {"az-one": 20, "az-two": 50}
    use(lab, berlin={"az-one": 10, "az-two": 50})
    lab.clock.advance(DAY + 1)
    lab.distribute_all()
    assert az_quotas(lab)["berlin"] == {"az-one": 12, "az-two": 60}
    assert "60 for usage and commitments, 12 for growth (60 used)" in history(lab)[-1]


def test_recent_usage_is_kept(lab: Lab) -> None:
    assert kept_changes(lab) == {}, "a first report is no change"
    use(lab, berlin={"az-one": 20, "az-two": 30}, dresden={"az-one": 5})
    assert kept_changes(lab) == {}
    use(lab, berlin={"az-one": 25}, dresden={"az-one": 5, "az-two": 1})
    assert kept_changes(lab) == {
        ("berlin", "az-one"): [[lab.now, 20, 25]],
        ("berlin", "az-two"): [[lab.now, 0, 30]],
        ("dresden", "az-two"): [[lab.now, 0, 1]],
    }
    lab.distribute_all()
    assert az_quotas(lab)["berlin"] == {"az-one": 25, "az-two": 30}


def test_usage_in_an_unknown_az(lab: Lab) -> None:
    """Quota there would be of no use, so it is in no particular AZ, and it does not grow."""
    use(lab, berlin={"az-one": 20, "elsewhere": 10})
    assert az_quotas(lab)["berlin"] == {"any": 10, "az-one": 20, "az-two": 30}
    lab.clock.advance(3 * DAY)
    lab.distribute_all()
    assert az_quotas(lab)["berlin"] == {"any": 10, "az-one": 24}
    before = history(lab)
    use(lab, berlin={"az-one": 22, "elsewhere": 8})
    use(lab, berlin={"az-one": 22, "elsewhere": 10})
    assert history(lab) == before


def test_usage_of_late_from_a_clock_that_was_ahead(lab: Lab) -> None:
    """It ages as any other."""
    use(lab, berlin={"az-one": 100, "az-two": 30})
    lab.clock.advance(365 * DAY)
    use(lab, berlin={"az-one": 20, "az-two": 30})
    lab.clock.advance(-365 * DAY)
    lab.execute("UPDATE project_az_quotas SET changed_at = %s", lab.now)
    for _ in range(3):
        use(lab, berlin={"az-one": 20, "az-two": 30})
    set_due(lab, lab.now)
    lab.distribute_all()
    assert az_quotas(lab)["berlin"] == {"az-one": 24, "az-two": 36}


def test_usage_beyond_quota_is_granted_at_once(lab: Lab) -> None:
    lab.distribute_all()
    use(lab, berlin={"az-one": 20, "az-two": 40})
    assert az_quotas(lab)["berlin"] == {"az-one": 24, "az-two": 40}
    assert history(lab)[-1] == ("p-berlin", "cores", 60, 64, "autogrow", "60 used", "limes")


def test_a_base_quota_is_used(make_lab: Callable[..., Lab]) -> None:
    """It is not bound to an AZ: usage in one takes from it, and is no change of the quota."""
    lab = make_growing(make_lab, structs.replace(GROWTH, project_base_quota=10))
    use(lab, berlin={})
    provide(lab, az_one=100, az_two=100)
    lab.distribute_all()
    use(lab, berlin={"az-one": 3, "az-two": 1})
    assert az_quotas(lab)["berlin"] == {"any": 6, "az-one": 3, "az-two": 1}
    lab.distribute_all()
    assert az_quotas(lab)["berlin"] == {"any": 6, "az-one": 3, "az-two": 1}, "it was 0 of late"
    assert [row[:4] for row in history(lab)] == [("p-berlin", "cores", 0, 10)]


def test_a_commitment_raises_quota_at_once(lab: Lab) -> None:
    lab.distribute_all()
    push_quota(lab.limes, lab.project_id("paris"), ["compute"])
    add(lab, 1, 10, project="paris", status="pending")
    lab.settle_commitments()
    assert az_quotas(lab)["paris"] == {"az-one": 10}
    assert history(lab)[-1] == ("p-paris", "cores", 0, 10, "autogrow", "0 used, 10 committed", "limes")
    assert due_at(lab) == lab.now
    assert lab.service("quota_desynced_at", project="paris") == (lab.now,)
    lab.distribute_all()
    assert az_quotas(lab)["paris"] == {"az-one": 12}


def test_a_commitment_that_ends_lowers_quota(lab: Lab) -> None:
    add(lab, 1, 10, project="paris", status="confirmed", expires_at=lab.now + 1000)
    lab.distribute_all()
    assert az_quotas(lab)["paris"] == {"az-one": 12}
    lab.clock.advance(1001)
    set_due(lab, lab.now + 500)
    lab.settle_commitments()
    assert due_at(lab) == lab.now
    lab.distribute_all()
    assert "paris" not in az_quotas(lab)
    assert history(lab)[-1] == ("p-paris", "cores", 12, 0, "autogrow", "nothing (0 used)", "limes")


def test_bounds(make_lab: Callable[..., Lab]) -> None:
    constraints = ConstraintSet(projects={"germany/berlin": {CORES: Constraint(minimum=70)}})
    lab = make_growing(make_lab, constraints=constraints)
    use(lab, berlin={"az-one": 50}, dresden={"az-one": 10}, paris={"az-one": 10})
    assert az_quotas(lab)["berlin"] == {"az-one": 50}, "constraints are bounds of what is computed"
    lab.execute("UPDATE project_resources SET max_quota = 11 WHERE project_id = %s", lab.project_id("dresden"))
    overrides = QuotaOverrides({("france", "paris"): {CORES: 33}})
    provide(lab, az_one=1000)
    lab.distribute_all(overrides)
    assert az_quotas(lab) == {"berlin": {"az-one": 70}, "dresden": {"az-one": 11}, "paris": {"az-one": 33}}
    lab.execute("UPDATE project_resources SET forbids_autogrowth = %s WHERE max_quota = 11", True)
    provide(lab, az_one=1000)
    lab.distribute_all(overrides)
    assert az_quotas(lab)["dresden"] == {"az-one": 10}
    assert history(lab)[-1][5].endswith("; limited by forbid_autogrowth")


def test_bounds_of_the_backend(make_lab: Callable[..., Lab]) -> None:
    lab = make_growing(make_lab)
    lab.compute.bounds = {"cores": (15, 55)}
    use(lab, berlin={"az-one": 50}, dresden={})
    provide(lab, az_one=1000)
    lab.distribute_all()
    assert {name: sum(quotas.values()) for name, quotas in az_quotas(lab).items()} == {"berlin": 55, "dresden": 15}


def test_small_changes_wait(make_lab: Callable[..., Lab]) -> None:
    lab = make_growing(
        make_lab, structs.replace(GROWTH, minor_change=0.05, minor_change_interval=3600, retention=100.0)
    )
    use(lab, berlin={"az-one": 50})
    provide(lab, az_one=1000)
    lab.distribute_all()
    assert az_quotas(lab)["berlin"] == {"az-one": 60}
    lab.execute("UPDATE project_az_resources SET usage = 52 WHERE az = 'az-one'")
    lab.clock.advance(1000)
    assert lab.distribute_all() == 0
    assert az_quotas(lab)["berlin"] == {"az-one": 60}
    lab.clock.advance(3000)
    assert lab.distribute_all() == 1
    assert az_quotas(lab)["berlin"] == {"az-one": 62}


def test_explanation(lab: Lab) -> None:
    before = all_rows(lab.engine)
    overrides = QuotaOverrides({("germany", "dresden"): {CORES: 7}})
    limes = structs.replace(lab.limes, overrides=lambda: overrides)
    found = explain_allocation(limes, lab.project_id(), CORES)
    assert found is not None
    assert found.allocation.granted == {
        Step.NEEDED: {"az-one": 20, "az-two": 30},
        Step.GROWTH: {"az-one": 4, "az-two": 6},
    }
    assert found.capacity == {"az-one": 100, "az-two": 100}
    assert found.quotas == {"az-one": 20, "az-two": 30}
    assert found.text == "50 for usage and commitments, 10 for growth (50 used)"
    pinned = explain_allocation(limes, lab.project_id("dresden"), CORES)
    assert pinned is not None
    assert pinned.bounds.maximum_from is BoundSource.OVERRIDE
    assert pinned.allocation.quota == 7
    assert explain_allocation(limes, lab.project_id(), ("compute", "ram")) is None
    assert explain_allocation(limes, 10**6, CORES) is None
    assert changes(before, all_rows(lab.engine)) == {}


def test_commitments_for_all_azs(make_lab: Callable[..., Lab]) -> None:
    """They cover usage wherever it is."""
    lab = make_lab(catalog_options={"distributions": distributions()})
    lab.discover()
    provide(lab, az_one=100)
    use(lab, berlin={"az-one": 20})
    add(lab, 1, 30, status="pending", az="any", expires_at=lab.now + YEAR)
    lab.execute("UPDATE project_commitments SET status = 'confirmed', confirmed_at = %s", lab.now)
    lab.clock.advance(901)
    lab.distribute_all()
    assert az_quotas(lab)["berlin"] == {"any": 12, "az-one": 24}


def test_bursting_comes_on_top(make_lab: Callable[..., Lab]) -> None:
    """The backend is told more; the quota does not follow what is bursted."""
    rule = structs.replace(GROWTH, growth_multiplier=1)
    lab = make_lab(catalog_options={"distributions": distributions(rule), "burst_multiplier": 0.5})
    lab.discover()
    lab.execute("UPDATE projects SET has_bursting = %s", True)
    use(lab, berlin={"az-one": 20})
    provide(lab, az_one=100)
    lab.distribute_all()
    push_quota(lab.limes, lab.project_id(), ["compute"])
    assert lab.compute.quota["berlin"]["cores"] == 30
    assert lab.quotas()["cores"] == (20, 30)


def test_largest_amounts(make_lab: Callable[..., Lab]) -> None:
    """The sum of what is used in AZs is more than a quota can be."""
    lab = make_growing(make_lab, structs.replace(GROWTH, growth_multiplier=1e6, overcommit=True))
    use(lab, berlin={"az-one": MAX_AMOUNT - 5, "az-two": 7}, dresden={"az-one": MAX_AMOUNT // 2})
    provide(lab, az_one=MAX_AMOUNT, az_two=MAX_AMOUNT)
    lab.distribute_all()
    assert [sum(az_quotas(lab)[name].values()) for name in ("berlin", "dresden")] == [MAX_AMOUNT] * 2
    set_due(lab, lab.now)
    assert lab.distribute_all() == 0
