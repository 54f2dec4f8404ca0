"""From when to when scrapes have found subresources: what is written, and what it costs."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.backends import AZUsage, BackendError
from limes.collector.scrape_usage import claim_scrapes
from tests.collector.lab import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS, Lab, scrape_project
from tests.lifetimes.in_lab import DAY, FOLLOWED, clean_up, following, periods, report, scrape, server, shown
from tests.support.rows import all_rows, changes
from tests.support.statements import count_statements

SMALL, BIG = '{"flavor":"small"}', '{"flavor":"big"}'


def test_a_server_comes_is_resized_and_goes(lab: Lab) -> None:
    began = lab.now
    report(lab, ("az-one", server("a")))
    scrape(lab)
    assert shown(lab) == [("a", SMALL, began, None)]
    lab.clock.advance(1800)
    scrape(lab)
    assert shown(lab) == [("a", SMALL, began, None)]
    assert periods(lab)[0].last_seen_at == lab.now
    lab.clock.advance(900)
    lab.compute.error = BackendError("down")
    scrape(lab)
    assert shown(lab) == [("a", SMALL, began, None)]
    assert periods(lab)[0].last_seen_at == lab.now - 900
    lab.clock.advance(900)
    lab.compute.error = None
    report(lab, ("az-one", server("a", "big")))
    scrape(lab)
    resized = lab.now
    assert shown(lab) == [("a", SMALL, began, resized), ("a", BIG, resized, None)]
    assert [row.first_seen_at for row in periods(lab)] == [began, began]
    assert [row.last_seen_at for row in periods(lab)] == [resized - 1800, resized]
    lab.clock.advance(1800)
    report(lab)
    scrape(lab)
    assert shown(lab) == [("a", SMALL, began, resized), ("a", BIG, resized, lab.now)]
    lab.clock.advance(1800)
    report(lab, ("az-one", server("a")))
    scrape(lab)
    [*_, back] = periods(lab)
    assert (back.first_seen_at, back.ended_at) == (lab.now, None), "it was gone, so this is another life"


def test_nothing_is_written_while_nothing_changes(lab: Lab) -> None:
    report(lab, ("az-one", server("a")), ("az-two", server("b")))
    scrape(lab)
    before = all_rows(lab.engine)
    lab.clock.advance(1800)
    report(lab, ("az-two", server("b") | {"name": "renamed", "status": "SHUTOFF"}), ("az-one", server("a")))
    scrape(lab)
    assert set(changes(before, all_rows(lab.engine))) == {"project_services", "project_az_resources"}


def test_statements_do_not_depend_on_the_number_of_subresources(lab: Lab) -> None:
    def cost(work: Callable[[], Any], *entries: tuple[str, dict[str, Any]], followed: Any = FOLLOWED) -> int:
        report(lab, *entries)
        lab.execute(
            "UPDATE project_services SET next_scrape_at = %s WHERE project_id <> %s", lab.now + 9e5, lab.project_id()
        )
        lab.execute("UPDATE project_services SET next_scrape_at = %s WHERE project_id = %s", lab.now, lab.project_id())
        return count_statements(lab.engine, work)

    def run(followed: Any = FOLLOWED) -> Any:
        follower = following(lab, followed)
        return lambda: follower.scrape_next("compute")

    scrape(lab)
    few = [("az-one", server(str(number))) for number in range(2)]
    many = [("az-one", server(str(number))) for number in range(500)]
    off_with_few = cost(run({}), *few)
    lab.clock.advance(60)
    idle_without = cost(run({}), *few)
    lab.clock.advance(60)
    first = cost(run(), *few)  # the same report, so that only the lifetimes are written
    lab.clock.advance(60)
    assert cost(run(), *few) <= idle_without + 1
    lab.clock.advance(60)
    grown = cost(run(), *many)
    lab.clock.advance(60)
    resized = cost(run(), *[(az, entry | {"flavor": "big"}) for az, entry in many])
    lab.clock.advance(60)
    assert cost(run(), *[(az, entry | {"flavor": "big"}) for az, entry in many]) <= idle_without + 1
    assert first <= idle_without + 3  # the periods are read, the project is named, and periods are added
    assert grown <= off_with_few + 2
    assert resized <= off_with_few + 3
    assert sum(row.ended_at is None for row in periods(lab)) == 500


def test_a_deleted_project_stays_billable(lab: Lab) -> None:
    report(lab, ("az-one", server("a")))
    report(lab, ("az-one", server("p")), project="paris")
    scrape(lab)
    seen = lab.now
    lab.clock.advance(600)
    lab.keystone.found = {GERMANY: [BERLIN, DRESDEN]}  # paris goes with its domain
    lab.discover()
    gone = lab.now
    lab.clock.advance(600)
    lab.keystone.found = {GERMANY: [DRESDEN]}
    lab.discover()
    berlin, paris = periods(lab)
    assert berlin[1:5] == ("d-germany", "germany", "p-berlin", "berlin")
    assert paris[1:5] == ("d-france", "france", "p-paris", "paris")
    assert (berlin.last_seen_at, berlin.ended_at) == (seen, lab.now)
    assert (paris.last_seen_at, paris.ended_at) == (seen, gone)
    clean_up(lab)
    assert len(periods(lab)) == 2
    lab.clock.advance(401 * DAY)
    clean_up(lab)
    assert lab.rows("SELECT COUNT(*) FROM subresource_lifetimes") == [(0,)]
    assert lab.rows("SELECT COUNT(*) FROM lifetime_projects") == [(0,)]


def test_a_renamed_project_has_its_new_name(lab: Lab) -> None:
    report(lab, ("az-one", server("a")))
    scrape(lab)
    renamed = BERLIN.__class__(BERLIN.id, "berlin-mitte", BERLIN.parent_id, GERMANY)
    lab.keystone.found = {GERMANY: [renamed, DRESDEN], FRANCE: [PARIS]}
    lab.discover()
    assert [row.project_name for row in periods(lab)] == ["berlin-mitte"]
    report(lab, ("az-one", server("a")), project="berlin-mitte")
    scrape(lab)
    assert lab.rows("SELECT uuid, name FROM lifetime_projects") == [("p-berlin", "berlin-mitte")]
    lab.clock.advance(60)
    lab.keystone.found = {GERMANY: [DRESDEN], FRANCE: [PARIS]}
    lab.discover()
    assert [(row.project_uuid, row.project_name) for row in periods(lab)] == [("p-berlin", "berlin-mitte")]


def test_what_is_not_followed_any_more_ends(lab: Lab) -> None:
    report(lab, ("az-one", server("a")))
    lab.volume.usage["berlin"] = {"capacity": {"any": AZUsage(1, subresources=({"id": "v", "size": 1},))}}
    scrape(lab)
    scrape(lab, service="volume")
    seen = lab.now
    lab.clock.advance(900)
    only = {ref: names for ref, names in FOLLOWED.items() if ref[0] == "volume"}
    clean_up(lab, only)
    [ended] = [row for row in periods(lab) if row.service_type == "compute"]
    assert (ended.last_seen_at, ended.ended_at) == (seen, lab.now)
    assert [row.ended_at for row in periods(lab) if row.service_type == "volume"] == [None]
    before = all_rows(lab.engine)
    clean_up(lab, only)
    assert changes(before, all_rows(lab.engine)) == {}
    clean_up(lab, {})
    assert [row.ended_at for row in periods(lab)] == [lab.now, lab.now]


def test_old_periods_are_deleted_and_open_ones_are_not(lab: Lab) -> None:
    report(lab, ("az-one", server("a")), ("az-one", server("b")))
    scrape(lab)
    report(lab, ("az-one", server("b")))
    lab.clock.advance(60)
    scrape(lab)
    lab.clock.advance(30 * DAY)
    clean_up(lab, retention=30 * DAY + 1)
    assert [row.id for row in periods(lab)] == ["a", "b"]
    clean_up(lab, retention=30 * DAY - 1)
    assert [row.id for row in periods(lab)] == ["b"]


def test_a_clock_that_is_set_back_makes_no_negative_period(lab: Lab) -> None:
    report(lab, ("az-one", server("a")))
    scrape(lab)
    began = lab.now
    lab.clock.advance(-3600)
    report(lab, ("az-one", server("a", "big")))
    lab.execute("UPDATE project_services SET next_scrape_at = %s", lab.now)
    scrape(lab)
    lab.clock.advance(7200)
    report(lab)
    scrape(lab)
    rows = lab.rows("SELECT attributes, began_at, ended_at FROM subresource_lifetimes ORDER BY id")
    assert rows == [(SMALL, began, began), (BIG, began, lab.now)]
    assert shown(lab) == [("a", BIG, began, lab.now)], "a period without length is not shown"


def test_a_claim_that_is_lost_writes_nothing(lab: Lab) -> None:
    report(lab, ("az-one", server("a")))
    [task] = claim_scrapes(lab.limes, "compute", 1)
    lab.execute("UPDATE project_services SET scrape_claimed_until = scrape_claimed_until + 1")
    scrape_project(lab.limes, task, following(lab).listeners)
    assert periods(lab) == []


@pytest.mark.parametrize("followed", [FOLLOWED, {}])
def test_resources_without_subresources_have_no_lifetimes(lab: Lab, followed: Any) -> None:
    lab.compute.usage["berlin"] = {"cores": {"az-one": AZUsage(4)}}
    scrape(lab, followed)
    assert lab.rows("SELECT COUNT(*) FROM lifetime_projects") == [(0,)]
