"""What the model autogrow works with comes along: quota by AZ, recent usage, bounds of projects."""

import json
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limes.app.importer.conversion import UnreadableHistory, convert_history
from limes.autogrow.distribute import distribute_next
from limes.catalog.catalog import AutogrowRule, Catalog, DistributionRule
from limes.collector.follow_configuration import follow_models
from limes.db.engine import Engine
from limes.quota.constraints import QuotaOverrides
from limes.usage.recent import recent_range
from tests.api.world import SERVICES
from tests.collector.lab import NoJitter
from tests.importer.conftest import Case
from tests.importer.go_limes import GoLimes
from tests.support.clock import FrozenClock
from tests.support.levels import few_of
from tests.support.limes import make_limes
from tests.support.rows import all_rows

HOUR = 3600
NOW = 1767225600
"""2026-01-01, where the tests' clock stands."""
RULE = AutogrowRule(1.2, project_base_quota=10, retention=48 * HOUR)
DISTRIBUTIONS = [DistributionRule(re.compile("compute/.*"), "autogrow", autogrow=RULE)]
VERSIONS = few_of((38, 60, 82, 36, 44, 49, 58, 64, 69, 70), 3)


def fill(source: GoLimes) -> None:
    """Quotas by AZ, recent usage of berlin, and bounds, as the release keeps them."""
    for project, az, quota in ((11, "az-one", 12), (11, "az-two", 5), (11, "any", 3), (12, "az-one", 29)):
        row = source.rows.get((project, "compute", "cores", az))
        source.run("UPDATE project_az_resources SET quota = %s WHERE id = %s", quota, row)
    history = {"t": [NOW - 300_000, NOW - 90_000, NOW - 89_900, NOW - 1_000], "v": [9, 5, 1, 2]}
    for az, document in (("az-one", json.dumps(history)), ("az-two", '{"t":[5],"v":[3]}'), ("any", "{}")):
        row = source.rows.get((11, "compute", "cores", az))
        source.run("UPDATE project_az_resources SET historical_usage = %s WHERE id = %s", document, row)
    if source.version >= 38:
        set_column(source, 11, "max_quota_from_admin" if source.version < 45 else "max_quota_from_outside_admin", 40)
    if 45 <= source.version <= 66:
        set_column(source, 11, "max_quota_from_local_admin", 25)
        set_column(source, 12, "max_quota_from_local_admin", 31)
    if source.version >= 62:
        set_column(source, 12, "forbid_autogrowth", True)


def set_column(source: GoLimes, project: int, column: str, value: object) -> None:
    row = source.owners[project, "compute", "cores"]
    source.run(f"UPDATE project_resources SET {column} = %s WHERE id = %s", value, row)


def by_project(target: Engine, columns: str, table: str) -> list[tuple[Any, ...]]:
    return target.rows(
        f"SELECT p.name, {columns} FROM {table} x JOIN projects p ON p.id = x.project_id"
        " JOIN resources r ON r.id = x.resource_id WHERE r.name = 'cores' ORDER BY p.name, 2"
    )


@pytest.mark.sql
@pytest.mark.postgresql
@pytest.mark.parametrize("version", VERSIONS)
def test_all_of_it_comes_along(go_limes: Callable[..., Any], target: Engine, version: int) -> None:
    source = go_limes(version)
    fill(source)
    outcome = Case(source, target, distributions=DISTRIBUTIONS).run()
    assert outcome.applied, outcome
    assert by_project(target, "x.az, x.quota", "project_az_quotas") == [
        ("berlin", "any", 3),
        ("berlin", "az-one", 12),
        ("berlin", "az-two", 5),
        ("dresden", "any", 30),
    ], "where they do not add up, all of it is in no particular AZ"
    due = target.rows("SELECT name FROM resources WHERE quota_due_at <= %s ORDER BY name", [NOW])
    assert due == [("cores",), ("ram",)], "collectors know that these have grown before"
    assert outcome.dropped["quotas by AZ that do not add up to the project's quota"] == 1, "dresden's 29 of 30"
    ((name, az, changes, changed_at),) = by_project(target, "x.az, x.changes, x.changed_at", "project_usage_changes")
    assert (name, az, changed_at) == ("berlin", "az-one", NOW - 1_000)
    assert json.loads(changes) == [[NOW - 89_900, 1, 9], [NOW - 1_000, 1, 2]]
    bounds = by_project(target, "x.max_quota, x.forbids_autogrowth", "project_resources")
    most = {"berlin": None if version < 38 else 25 if 45 <= version <= 66 else 40}
    most["dresden"] = 31 if 45 <= version <= 66 else None
    assert [(name, quota, bool(forbids)) for name, quota, forbids in bounds] == [
        ("berlin", most["berlin"], False),
        ("dresden", most["dresden"], version >= 62),
    ]
    assert Case(source, target, distributions=DISTRIBUTIONS).run().was_here


@pytest.mark.postgresql
@pytest.mark.parametrize("version", [58, 82])
def test_where_people_set_quota_it_is_left_behind(go_limes: Callable[..., Any], target: Engine, version: int) -> None:
    source = go_limes(version)
    fill(source)
    outcome = Case(source, target).run()
    assert outcome.applied
    left = {text: count for text, count in outcome.dropped.items() if "where people set quota here" in text}
    assert left == {
        "quotas by AZ where people set quota here": 3,
        "historical usage where people set quota here": 2,
        "max_quota and forbid_autogrowth where people set quota here": 2,
    }
    for table in ("project_az_quotas", "project_usage_changes"):
        assert target.rows(f"SELECT * FROM {table}") == []
    assert target.rows("SELECT 1 FROM project_resources WHERE max_quota IS NOT NULL OR forbids_autogrowth") == []


@pytest.mark.postgresql
def test_a_collector_takes_it_as_it_is(go_limes: Callable[..., Any], target: Engine) -> None:
    """For collectors, the model of the resource has not changed: else they would begin with what is set."""
    source = go_limes(82)
    fill(source)
    Case(source, target, distributions=DISTRIBUTIONS).run()
    before = all_rows(target)

    def start_collector(distributions: Sequence[DistributionRule]) -> None:
        catalog, clock = Catalog(["az-one", "az-two"], SERVICES, distributions=distributions), FrozenClock()
        follow_models(make_limes(target, catalog, clock=clock))

    start_collector(DISTRIBUTIONS)
    assert all_rows(target) == before
    start_collector(())
    assert target.rows("SELECT * FROM project_usage_changes") == [], "this one changes the model"


@pytest.mark.postgresql
def test_the_first_computation_goes_on_from_it(go_limes: Callable[..., Any], target: Engine) -> None:
    """Berlin has committed to 10 cores in az-one, where it has used 19 of late, and uses 3 in az-two."""
    source = go_limes(58)
    fill(source)
    history = json.dumps({"t": [NOW - 300_000, NOW - 1_000], "v": [19, 2]})
    row = source.rows[11, "compute", "cores", "az-one"]
    source.run("UPDATE project_az_resources SET historical_usage = %s WHERE id = %s", history, row)
    case = Case(source, target, distributions=DISTRIBUTIONS)
    assert case.run().applied
    catalog, clock = case.use_case.catalog, case.clock
    limes = make_limes(target, catalog, clock=clock, jitter=NoJitter())
    while (outcome := distribute_next(limes)) is not None:
        assert outcome.success
    berlin = [row[1:] for row in by_project(target, "x.az, x.quota", "project_az_quotas") if row[0] == "berlin"]
    assert berlin == [("az-one", 19), ("az-two", 4)]
    target.execute("DELETE FROM project_usage_changes")
    target.execute("UPDATE resources SET quota_due_at = 0")
    clock.advance(RULE.minor_change_interval)
    while distribute_next(limes) is not None:
        pass
    berlin = [row[1:] for row in by_project(target, "x.az, x.quota", "project_az_quotas") if row[0] == "berlin"]
    assert berlin == [("az-one", 12), ("az-two", 4)], "without its recent usage"


@pytest.mark.postgresql
def test_history_that_cannot_be_read(go_limes: Callable[..., Any], target: Engine) -> None:
    source = go_limes(82)
    source.run("UPDATE project_az_resources SET historical_usage = 'x' WHERE usage = 2")
    outcome = Case(source, target, distributions=DISTRIBUTIONS).run()
    assert outcome.applied
    assert outcome.dropped["historical usage that cannot be read"] == 1


@pytest.mark.postgresql
@pytest.mark.parametrize("version", [38, 82])
def test_overrides_that_are_not_here(go_limes: Callable[..., Any], target: Engine, version: int) -> None:
    source = go_limes(version)
    set_column(source, 11, "override_quota_from_config", 20)
    set_column(source, 12, "override_quota_from_config", 30)
    ours = QuotaOverrides({("germany", "berlin"): {("compute", "cores"): 20}})
    outcome = Case(source, target, distributions=DISTRIBUTIONS, overrides=ours).run(apply=False)
    assert outcome.notes == (
        "quota overrides there that quota_overrides_path does not have here: germany/dresden compute/cores 30",
    )


@pytest.mark.postgresql
def test_bounds_that_got_lost_are_a_difference(
    go_limes: Callable[..., Any], target: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("limes.app.importer.target.Target._bounds", lambda self, row: (None, False))
    source = go_limes(64)
    fill(source)
    outcome = Case(source, target, distributions=DISTRIBUTIONS).run()
    assert outcome.differences == (
        "max_quota, and projects that forbid growth, compute/cores: 56, 1 there, nothing here",
    )


# -- the conversion of recent usage ------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(1, 200 * HOUR), st.integers(0, 50)), unique_by=lambda point: point[0]),
    st.integers(0, 50),
)
def test_smallest_and_largest_stay_exact(points: list[tuple[int, int]], usage: int) -> None:
    """Whatever the slots: those of all values that were in force within the retention period, to the slot."""
    points.sort()
    document = json.dumps({"t": [time for time, _ in points], "v": [value for _, value in points]})
    now, retention = 200 * HOUR, 48 * HOUR
    changes = convert_history(document, usage, now, retention)
    in_force = [
        usage,
        *(before for (_, before), (end, _) in pairwise([*points, (now, usage)]) if end >= now - retention),
    ]
    assert recent_range(changes, usage, now, retention) == (min(in_force), max(in_force))
    assert len(changes) <= 49
    assert all(earlier[0] < later[0] for earlier, later in pairwise(changes))


@pytest.mark.parametrize("document", ["", "{}", '{"t":[],"v":[]}', '{"t":[5],"v":[7]}'])
def test_usage_that_has_not_changed(document: str) -> None:
    assert convert_history(document, 7, NOW, HOUR) == []


def test_a_last_value_that_is_not_the_usage() -> None:
    assert convert_history('{"t":[5],"v":[3]}', 7, NOW, HOUR) == [(NOW, 3, 7)]


@pytest.mark.parametrize(
    "document",
    ["x", "[]", "5", '{"t":[1]}', '{"t":[1,1],"v":[1,2]}', '{"t":[2,1],"v":[1,2]}', '{"t":[1],"v":[-1]}',
     '{"t":[1],"v":[1.5]}', '{"t":[1],"v":[true]}', '{"t":["x"],"v":[1]}', '{"t":null,"v":null}'],
)  # fmt: skip
def test_what_is_no_history(document: str) -> None:
    with pytest.raises(UnreadableHistory):
        convert_history(document, 1, NOW, HOUR)
