"""The database of the Go Limes, copied into ours: every report shows the same numbers."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.kernel.errors import ConfigError
from tests.api.world import BERLIN, FRANCE, GERMANY, PARIS, make_world
from tests.commitments.commitments import BEHAVIORS, ask, listed
from tests.importer.conftest import Case
from tests.support.databases import MigratedUrlFactory
from tests.support.levels import few_of
from tests.support.rows import all_rows

pytestmark = pytest.mark.postgresql

PATHS = (
    "/v1/clusters/current?detail",
    "/v1/domains",
    f"/v1/domains/{GERMANY}/projects?detail",
    f"/v1/domains/{GERMANY}/projects/{BERLIN}?detail",
    f"/v1/domains/{FRANCE}/projects/{PARIS}",
    "/v1/inconsistencies",
    "/v1/admin/scrape-errors",
)
VERSIONS = few_of((36, 60, 82, 37, 41, 49, 58, 64, 69, 70), 3)


@pytest.mark.sql
@pytest.mark.parametrize("version", VERSIONS)
def test_reports_show_the_same_numbers(
    go_limes: Callable[..., Any], target: Engine, database_url_with: MigratedUrlFactory, version: int
) -> None:
    source = go_limes(version)
    source.run("DELETE FROM project_commitments")
    case = Case(source, target)
    outcome = case.run()
    assert outcome.is_good, outcome
    assert outcome.applied
    assert (outcome.version, outcome.counts["projects"], outcome.counts["quotas"]) == (version, 3, 6)
    if version <= 39:
        engine = Engine(database_url_with(limes_migrations))
        expected = make_world(engine, behaviors=BEHAVIORS)
        if version <= 38:
            engine.execute("UPDATE projects SET has_bursting = %s WHERE name = 'dresden'", [True])
        for path in PATHS:
            assert case.world.get(path) == expected.get(path), path
        engine.close()
    cores = case.world.get("/v1/domains?service=compute&resource=cores")["domains"]
    figures = {one["name"]: one["services"][0]["resources"][0] for one in cores}
    assert (figures["germany"]["projects_quota"], figures["germany"]["usage"]) == (50, 36)
    assert figures["germany"]["quota"] == (100 if version <= 39 else 50), "without one of its own: that of its projects"


@pytest.mark.sql
@pytest.mark.parametrize("version", VERSIONS)
def test_commitments_keep_number_state_and_times(go_limes: Callable[..., Any], target: Engine, version: int) -> None:
    case = Case(go_limes(version), target)
    assert case.run().applied
    rows = {
        row[0]: row[1:]
        for row in target.rows(
            "SELECT c.id, p.name, r.name, c.az, c.amount, c.duration, c.status, c.confirmed_at, c.superseded_at,"
            " c.predecessor_id, c.transfer_status, c.transfer_token FROM project_commitments c"
            " JOIN projects p ON p.id = c.project_id JOIN resources r ON r.id = c.resource_id"
        )
    }
    june, july = 1748736000.0, 1751328000.0
    assert rows[3] == ("berlin", "cores", "az-one", 10, "1 year", "superseded", june, july, None, "", None)
    token = "feed" * 12
    assert rows[4] == ("berlin", "cores", "az-one", 4, "1 year", "confirmed", june, None, 3, "unlisted", token)
    assert rows[5] == ("berlin", "cores", "az-one", 6, "1 year", "confirmed", june, None, 3, "", None)
    assert rows[7][4:6] == ("1 hour", "planned")
    assert rows[8][5] == "pending"
    assert rows[9][5] == "expired"
    world = case.world
    assert [one["id"] for one in listed(world)] == [4, 5]
    assert listed(world)[0]["transfer_token"] == token
    assert listed(world, "dresden")[0]["confirm_by"] == 1772323200
    events = world.get("/v1/commitments")["events"]
    assert [(one["event"], one["commitment"]["id"]) for one in events] == [("created", id_) for id_ in (4, 5, 7, 8)]
    new = ask(world, "berlin", "new", amount=1)
    assert (new.status_code, new.json["commitment"]["id"]) == (201, 10), "numbers go on"


def test_commitments_without_uuid_get_the_same_one_each_time(
    go_limes: Callable[..., Any], target: Engine, database_url_with: MigratedUrlFactory
) -> None:
    source = go_limes(37)
    Case(source, target).run()
    engine = Engine(database_url_with(limes_migrations))
    Case(source, engine).run()
    sql = "SELECT id, uuid FROM project_commitments ORDER BY id"
    assert target.rows(sql) == engine.rows(sql)
    assert len({uuid for _, uuid in engine.rows(sql)}) == 6
    engine.close()


def test_a_dry_run_leaves_nothing(go_limes: Callable[..., Any], target: Engine) -> None:
    before = all_rows(target)
    outcome = Case(go_limes(), target).run(apply=False)
    assert outcome.is_good
    assert not outcome.applied
    assert all_rows(target) == before


def test_a_second_import_finds_everything_there(go_limes: Callable[..., Any], target: Engine) -> None:
    source = go_limes()
    assert Case(source, target).run().applied
    before = all_rows(target)
    again = Case(source, target).run()
    assert (again.was_here, again.applied, again.is_good) == (True, False, True)
    assert all_rows(target) == before


def test_a_target_with_other_data_is_left_alone(go_limes: Callable[..., Any], target: Engine) -> None:
    source = go_limes()
    Case(source, target).run()
    target.execute("UPDATE project_resources SET quota = quota + 1 WHERE quota = 20")
    before = all_rows(target)
    outcome = Case(source, target).run()
    assert not outcome.is_good
    assert "has data of its own" in outcome.problems[0]
    assert outcome.differences == (
        "projects with a quota, their quota, and the backends', compute/cores: 2, 50, 50 there, 2, 51, 50 here",
    )
    assert all_rows(target) == before


@pytest.mark.sql
def test_a_failure_in_the_middle_leaves_nothing(go_limes: Callable[..., Any], target: Engine) -> None:
    source = go_limes()
    source.run("UPDATE project_commitments SET amount = 0 WHERE id = 8")
    before = all_rows(target)
    with pytest.raises(ConfigError, match="commitment 8: its amount is not above zero"):
        Case(source, target).run()
    assert all_rows(target) == before
    source.run("UPDATE project_commitments SET amount = 1 WHERE id = 8")
    assert Case(source, target).run().applied


def test_what_differs_afterwards_is_not_kept(
    go_limes: Callable[..., Any], target: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("limes.app.importer.target.Target.write_usages", lambda self, rows: list(rows))
    before = all_rows(target)
    outcome = Case(go_limes(), target).run()
    assert not outcome.applied
    assert "entries of usage, usage, and physical usage, compute/cores/az-one: 2, 33, - there, nothing here" in (
        outcome.differences
    )
    assert all_rows(target) == before
