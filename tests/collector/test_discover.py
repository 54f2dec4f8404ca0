"""Domains and projects follow Keystone."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from limes.backends import BackendError, DomainInfo, ProjectInfo
from limes.collector.discover import discover_domains, discover_projects, request_sync
from limes.kernel.errors import NotFound
from limes.quota.constraints import Constraint, ConstraintSet
from tests.collector.lab import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS, Lab, once
from tests.commitments.in_lab import add
from tests.support.rows import all_rows, changes

pytestmark = pytest.mark.sql

PROJECTS = (
    "SELECT p.name, p.uuid, p.parent_uuid, d.name FROM projects p JOIN domains d ON d.id = p.domain_id ORDER BY 1"
)


def names(lab: Lab, table: str) -> list[Any]:
    return [name for (name,) in lab.rows(f"SELECT name FROM {table} ORDER BY name")]


def test_first_discovery_makes_all_rows(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab(constraints=ConstraintSet(domains={"germany": {("compute", "cores"): Constraint(minimum=40)}}))
    assert sorted(discover_domains(lab.limes)) == ["d-france", "d-germany"]
    assert lab.rows(PROJECTS) == [
        ("berlin", "p-berlin", "d-germany", "germany"),
        ("dresden", "p-dresden", "p-berlin", "germany"),
        ("paris", "p-paris", "d-france", "france"),
    ]
    assert lab.rows(
        "SELECT d.name, r.name, dr.quota FROM domain_resources dr JOIN domains d ON d.id = dr.domain_id"
        " JOIN resources r ON r.id = dr.resource_id ORDER BY 1, 2"
    ) == [
        ("france", "capacity", 0),
        ("france", "cores", 0),
        ("france", "ram", 0),
        ("germany", "capacity", 0),
        ("germany", "cores", 40),
        ("germany", "ram", 0),
    ]
    for project in ("berlin", "dresden", "paris"):
        for service in ("compute", "volume"):
            found = lab.service("next_scrape_at", "scraped_at", "is_stale", project=project, service=service)
            assert found == (lab.now, None, False)
    assert lab.rows("SELECT COUNT(*) FROM project_resources") == [(0,)]


def test_before_there_is_anything_an_empty_list_is_believed(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    lab.keystone.found = {}
    assert discover_domains(lab.limes) == []
    lab.discover()


def test_looking_for_domains_looks_for_projects_of_new_ones_only(lab: Lab) -> None:
    spain = DomainInfo("d-spain", "spain")
    lab.keystone.found[GERMANY].append(ProjectInfo("p-mainz", "mainz", GERMANY.id, GERMANY))
    lab.keystone.found[spain] = [ProjectInfo("p-madrid", "madrid", spain.id, spain)]
    assert discover_domains(lab.limes) == ["d-spain"]
    assert names(lab, "projects") == ["berlin", "dresden", "madrid", "paris"]


def test_a_domain_that_vanishes_while_its_projects_are_listed(lab: Lab) -> None:
    gone = dict(lab.keystone.found)

    def vanish() -> None:
        lab.keystone.found = {GERMANY: gone[GERMANY]}
        lab.discover()
        lab.keystone.found = gone

    lab.keystone.during = once(vanish)
    assert discover_projects(lab.limes, "d-france") == []
    assert (names(lab, "domains"), names(lab, "projects")) == (["germany"], ["berlin", "dresden"])


def test_a_second_discovery_changes_nothing(lab: Lab) -> None:
    before = all_rows(lab.engine)
    lab.clock.advance(180)
    assert discover_domains(lab.limes) == []
    assert discover_projects(lab.limes, "d-germany") == []
    lab.discover()
    assert changes(before, all_rows(lab.engine)) == {}


def test_names_and_parents_follow(lab: Lab) -> None:
    germany = structs.replace(GERMANY, name="deutschland")
    lab.keystone.found = {
        germany: [
            structs.replace(BERLIN, name="spree", domain=germany),
            structs.replace(DRESDEN, parent_id="d-germany", domain=germany),
        ],
        FRANCE: [PARIS],
    }
    lab.discover()
    assert lab.rows(PROJECTS) == [
        ("dresden", "p-dresden", "d-germany", "deutschland"),
        ("paris", "p-paris", "d-france", "france"),
        ("spree", "p-berlin", "d-germany", "deutschland"),
    ]


def test_vanished_projects_and_domains_are_deleted_with_their_data(lab: Lab) -> None:
    lab.scrape_all()
    lab.keystone.found = {GERMANY: [BERLIN]}
    lab.discover()
    assert (names(lab, "domains"), names(lab, "projects")) == (["germany"], ["berlin"])
    assert lab.rows("SELECT DISTINCT project_id FROM project_az_resources") == [(lab.project_id(),)]
    assert lab.rows("SELECT COUNT(*) FROM project_services") == [(2,)]


@pytest.mark.parametrize(
    ("status", "kept"),
    [("planned", False), ("pending", False), ("confirmed", True), ("expired", False), ("superseded", False)],
)
def test_what_has_commitments_that_hold_is_kept_and_blocks_nothing_else(
    lab: Lab, caplog: pytest.LogCaptureFixture, status: str, kept: bool
) -> None:
    add(lab, 1, 1, status=status)
    add(lab, 2, 1, status=status, project="paris")
    lab.keystone.found = {GERMANY: []}
    lab.discover()
    assert names(lab, "projects") == (["berlin", "paris"] if kept else [])
    assert names(lab, "domains") == (["france", "germany"] if kept else ["germany"])
    assert ("project p-berlin of domain germany has vanished, but is kept" in caplog.text) == kept
    assert ("domain d-france has vanished, but is kept" in caplog.text) == kept


def test_patterns_choose_domains(lab: Lab) -> None:
    lab.values = {"discovery.except_domains": re.compile("rance")}
    lab.discover()
    assert names(lab, "domains") == ["germany"]
    lab.values = {"discovery.only_domains": re.compile("^nowhere$")}
    with pytest.raises(BackendError, match="there are none"):
        lab.discover()
    assert names(lab, "domains") == ["germany"]


def test_an_empty_list_of_domains_is_not_believed(lab: Lab) -> None:
    before = all_rows(lab.engine)
    lab.keystone.found = {}
    with pytest.raises(BackendError, match="there are none"):
        lab.discover()
    assert changes(before, all_rows(lab.engine)) == {}


def test_a_domain_that_cannot_be_listed_keeps_its_projects_and_does_not_stop_the_others(lab: Lab) -> None:
    lab.keystone.broken_domains = {"france"}
    lab.keystone.found[GERMANY].append(ProjectInfo("p-mainz", "mainz", GERMANY.id, GERMANY))
    with pytest.raises(BackendError, match='while listing projects in domain "france": no answer'):
        lab.discover()
    assert names(lab, "projects") == ["berlin", "dresden", "mainz", "paris"]


def test_a_discovery_with_an_older_list_does_not_delete_what_a_newer_one_has_found(lab: Lab) -> None:
    mainz = ProjectInfo("p-mainz", "mainz", GERMANY.id, GERMANY)
    spain = DomainInfo("d-spain", "spain")

    def another_discovery() -> None:
        lab.keystone.found = {GERMANY: [BERLIN, DRESDEN, mainz], FRANCE: [PARIS], spain: []}
        lab.discover()

    lab.keystone.during = once(another_discovery)
    lab.discover()
    assert names(lab, "domains") == ["france", "germany", "spain"]
    lab.keystone.found = {GERMANY: [BERLIN, DRESDEN, mainz], FRANCE: [PARIS], spain: []}
    madrid = ProjectInfo("p-madrid", "madrid", "d-spain", spain)

    def yet_another() -> None:
        lab.keystone.found[spain] = [madrid]
        lab.discover()

    lab.keystone.during = once(yet_another)
    discover_projects(lab.limes, "d-spain")
    assert "madrid" in names(lab, "projects")


def test_projects_of_one_domain(lab: Lab) -> None:
    lab.keystone.found[GERMANY].append(ProjectInfo("p-mainz", "mainz", GERMANY.id, GERMANY))
    lab.keystone.found[FRANCE].append(ProjectInfo("p-lyon", "lyon", FRANCE.id, FRANCE))
    assert discover_projects(lab.limes, "d-germany") == ["p-mainz"]
    assert names(lab, "projects") == ["berlin", "dresden", "mainz", "paris"]
    with pytest.raises(NotFound):
        discover_projects(lab.limes, "d-nowhere")


def test_sync_marks_all_services_of_the_project(lab: Lab) -> None:
    before = all_rows(lab.engine)
    request_sync(lab.limes, "d-germany", "p-berlin")
    gone, come = changes(before, all_rows(lab.engine)).pop("project_services")
    assert (len(gone), len(come)) == (2, 2)
    assert [lab.service("is_stale", service=service) for service in ("compute", "volume")] == [(True,), (True,)]


def test_sync_looks_for_an_unknown_project_in_keystone(lab: Lab) -> None:
    lab.keystone.found[GERMANY].append(ProjectInfo("p-mainz", "mainz", GERMANY.id, GERMANY))
    request_sync(lab.limes, "d-germany", "p-mainz")
    assert lab.service("is_stale", project="mainz") == (True,)
    for domain, project in (("d-germany", "p-nowhere"), ("d-france", "p-berlin"), ("d-nowhere", "p-berlin")):
        with pytest.raises(NotFound):
            request_sync(lab.limes, domain, project)
