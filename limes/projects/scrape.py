"""What a scrape of a project's service has found, for those who listen."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from limes.app.context import Limes
from limes.backends import DomainInfo, ProjectInfo, ResourceUsage
from limes.projects import tasks
from limes.projects.scrapes import Figures


def project_info(task: tasks.ProjectTask) -> ProjectInfo:
    """Returns the project as backends know it."""
    domain = DomainInfo(task.domain_uuid, task.domain_name)
    return ProjectInfo(task.project_uuid, task.project_name, task.parent_uuid, domain, task.scrape_state)


@dataclass(frozen=True, slots=True)
class Scrape:
    """A service of a project, whose figures are written in the present transaction."""

    task: tasks.ProjectTask
    ids: Mapping[str, int]
    """Of the service's resources, by name."""
    stored: Figures
    """What was there before. The rows are locked."""
    present: Figures
    usages: Mapping[str, ResourceUsage]
    """The backend's report, by resource."""
    now: float


Listener = Callable[[Limes, Scrape], None]
"""Called in the transaction of the scrape, whose claim and locks keep all others from the project's figures. These are
written after it, and what it writes goes to PostgreSQL with them, unless there is a read after that; so no count of
rows comes back."""
