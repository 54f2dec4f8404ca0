"""The job that computes quota that follows usage: when, how often, and what happens to errors."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs
from prometheus_client.parser import text_string_to_metric_families

from limes.autogrow.distribute import DistributionOutcome, distribute_next
from limes.autogrow.queries import mark_due
from limes.backends import ProjectInfo
from limes.catalog.catalog import DistributionRule
from limes.kernel.errors import Unavailable
from limes.quota.constraints import QuotaOverrides
from limes.reports.data_metrics import DataMetrics
from tests.autogrow.in_lab import (
    DAY,
    GROWTH,
    az_quotas,
    due_at,
    history,
    make_growing,
    make_used,
    provide,
    set_due,
    use,
)
from tests.collector.lab import GERMANY, FakeKeystone, Lab
from tests.support.rows import all_rows, changes
from tests.support.statements import count_statements, statements_of

pytestmark = pytest.mark.sql

CORES = ("compute", "cores")


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    return make_used(make_lab)


def test_the_same_state_writes_nothing(lab: Lab) -> None:
    lab.distribute_all()
    set_due(lab, lab.now)
    before = all_rows(lab.engine)
    assert lab.distribute_all() == 0
    assert set(changes(before, all_rows(lab.engine))) == {"resources"}


def test_what_others_have_written_is_corrected(lab: Lab) -> None:
    """The previous release lets people set quota, for as long as some of its processes run."""
    lab.distribute_all()
    lab.set_quota("cores", 7)
    set_due(lab, lab.now)
    assert lab.distribute_all() == 1
    assert az_quotas(lab)["berlin"] == {"az-one": 24, "az-two": 36}
    assert history(lab)[-1][2:5] == (7, 60, "autogrow")


@pytest.mark.parametrize("projects", [3, 60])
def test_statements_of_a_computation(make_lab: Callable[..., Lab], projects: int) -> None:
    """As many for many projects, all of which change, as for a few. Twelve of them write a piece of projects."""
    towns = [ProjectInfo(f"p-{number}", f"town-{number}", GERMANY.id, GERMANY) for number in range(projects)]
    lab = make_growing(make_lab, keystone=FakeKeystone(*towns))
    provide(lab, az_one=10**6)
    use(lab, **{town.name: {"az-one": 10} for town in towns})
    lab.clock.advance(10)
    begins = 2 if lab.engine.dialect == "sqlite" else 0  # which are statements there
    assert count_statements(lab.engine, lab.distribute) == 23 + begins
    assert len(history(lab)) == 2 * projects
    set_due(lab, lab.now)
    assert count_statements(lab.engine, lab.distribute) == 12 + begins


def test_statements_of_a_scrape(lab: Lab) -> None:
    """Two more where usage has changed, and one to see whether it is granted where it has risen."""
    lab.distribute_all()

    def asked(**usage: Any) -> int:
        statements = statements_of(lab.engine, lambda: use(lab, **usage))
        return len([sql for sql in statements if "usage_changes" in sql or "az_quotas" in sql])

    assert asked(berlin={"az-one": 20, "az-two": 30}) == 0
    assert asked(berlin={"az-one": 19, "az-two": 30}) == 2
    assert asked(berlin={"az-one": 20, "az-two": 30}) == 3


def test_due_after_a_scrape(lab: Lab) -> None:
    """Ten seconds later, so that many new projects are computed together; only if quota was not enough."""

    def due_in(project: str, az_one: int) -> float:
        set_due(lab, lab.now + 10 * DAY)
        use(lab, **{project: {"az-one": az_one}})
        found = due_at(lab)
        assert found is not None
        return found - lab.now

    lab.distribute_all()
    assert due_in("dresden", 7) == 10
    assert due_in("dresden", 6) > DAY
    assert due_in("dresden", 7) > DAY
    lab.execute("DELETE FROM project_resources WHERE project_id = %s", lab.project_id("paris"))
    assert due_in("paris", 0) == 10, "seen for the first time"


def test_due_after_a_capacity_scrape(lab: Lab) -> None:
    lab.distribute_all()
    set_due(lab, lab.now + 10 * DAY)
    provide(lab, az_one=26, az_two=100)
    assert due_at(lab) == lab.now
    lab.distribute_all()
    assert az_quotas(lab) == {"berlin": {"az-one": 21, "az-two": 36}, "dresden": {"az-one": 5}}
    assert history(lab)[-2][5].endswith("; no capacity for 3 more")


def test_resources_that_people_set_are_left_alone(lab: Lab) -> None:
    assert due_at(lab, "ram") is None
    provide(lab, az_one=100, az_two=100)
    lab.distribute_all()
    assert due_at(lab, "ram") is None
    assert lab.quotas()["ram"] == (0, 0)


def test_one_resource_that_fails_does_not_stop_others(make_lab: Callable[..., Lab]) -> None:
    rule = DistributionRule(re.compile("compute/(cores|ram)"), "autogrow", autogrow=GROWTH)
    lab = make_lab(catalog_options={"distributions": [rule]})
    lab.discover()
    lab.scrape_all()
    lab.clock.advance(10)

    class Broken(QuotaOverrides):
        def for_project(self, ref: Any, domain_name: str, project_name: str) -> int | None:
            if ref == CORES:
                raise Unavailable("the disk is gone")
            return 5

    assert [lab.distribute(Broken({})) for _ in range(3)] == [
        DistributionOutcome(CORES, False),
        DistributionOutcome(("compute", "ram"), True, 3),
        None,
    ]
    errors = dict(lab.rows("SELECT name, error FROM jobs"))
    assert errors == {"distribute-quota:compute/cores": "the disk is gone", "distribute-quota:compute/ram": ""}
    assert due_at(lab) == lab.now + 180
    lab.clock.advance(180)
    lab.distribute_all()
    assert set(dict(lab.rows("SELECT name, error FROM jobs")).values()) == {""}


def test_a_killed_one_costs_a_lease(lab: Lab) -> None:
    """Nobody else does the same meanwhile."""

    class Killed(BaseException):
        pass

    def die() -> QuotaOverrides:
        raise Killed

    with pytest.raises(Killed):
        distribute_next(structs.replace(lab.limes, overrides=die))
    assert lab.distribute() is None
    lab.clock.advance(300)
    assert lab.distribute() == DistributionOutcome(CORES, True, 2)


def test_what_changes_during_a_computation_is_computed_again(lab: Lab) -> None:
    """The mark comes after the claim, and before the computation locks the resource."""
    ids = [id_ for (id_,) in lab.rows("SELECT id FROM resources WHERE name = 'cores'")]
    assert lab.distribute()
    assert due_at(lab) == lab.now + 900
    lab.engine.atomic(lambda: mark_due(lab.engine, ids, lab.now))
    assert due_at(lab) == lab.now
    lab.engine.atomic(lambda: mark_due(lab.engine, ids, lab.now + 50))
    assert due_at(lab) == lab.now, "never later than before"


def test_a_project_that_vanishes(lab: Lab) -> None:
    lab.distribute_all()
    lab.keystone.vanish("dresden")
    set_due(lab, lab.now + 500)
    lab.discover()
    assert set(az_quotas(lab)) == {"berlin"}
    assert due_at(lab) == lab.now, "others may have what it has used"


def test_domain_quota_in_metrics_is_the_sum(lab: Lab) -> None:
    lab.distribute_all()
    lab.execute("UPDATE domain_resources SET quota = 3")
    text = b"".join(DataMetrics(lab.engine, lab.catalog).read().parts()).decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    found = {
        (sample.labels["domain"], sample.labels["resource"]): sample.value
        for sample in families["limes_domain_quota"].samples
    }
    assert found["germany", "cores"] == 66
    assert found["france", "cores"] == 0
    assert found["germany", "ram"] == 3
