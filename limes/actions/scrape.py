"""What a scrape has found, and who listens to it: the account of usage, growth, lifetimes of subresources."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from limes.actions.context import Limes
from limes.backends import ResourceUsage
from limes.db.queries.scrapes import Figures
from limes.db.queries.tasks import ProjectTask


@dataclass(frozen=True, slots=True)
class Scrape:
    """A service of a project, whose figures are written in the present transaction."""

    task: ProjectTask
    ids: Mapping[str, int]
    """Of the service's resources, by name."""
    stored: Figures
    """What was there before. The rows are locked."""
    present: Figures
    usages: Mapping[str, ResourceUsage]
    """The backend's report, by resource."""
    now: float


Listener = Callable[[Limes, Scrape], None]
"""Called in the transaction of the scrape, whose claim and locks keep all others from the project's figures. What it
writes goes to PostgreSQL together with the figures, unless it reads after that; so no count of rows comes back."""
