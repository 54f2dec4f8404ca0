"""What a backend wants to be told again with the next scrape of a project."""

from collections.abc import Callable

from msgspec import structs

from limes.backends import ProjectInfo, UsageReport
from tests.collector.lab import FakeService, Lab

STATES = "SELECT p.name, ps.scrape_state FROM project_services ps JOIN projects p ON p.id = ps.project_id ORDER BY 1, 2"


class Counting(FakeService):
    """Counts how often it was asked for each project, with nothing but what it is told."""

    def report_usage(self, project: ProjectInfo) -> UsageReport:
        return structs.replace(super().report_usage(project), state=project.scrape_state + "I")


def test_it_is_kept_for_each_project(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    lab.backends["compute"] = Counting(lab.catalog.services["compute"])
    lab.discover()
    lab.scrape_all()
    lab.clock.advance(3600)
    lab.scrape_all()
    lab.scrape_all("volume")
    assert {state for _, state in lab.rows(STATES)} == {"II", ""}


def test_it_is_only_written_when_it_changes(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    lab.discover()
    lab.scrape_all()
    lab.execute("UPDATE project_services SET scrape_state = 'old'")
    lab.clock.advance(3600)
    lab.scrape_all()
    found = lab.rows("SELECT DISTINCT scrape_state FROM project_services WHERE scraped_at IS NOT NULL")
    assert found == [("",)], "a report without a state takes it away"
