"""The Limes half's tables as peewee models: the truth about the schema (a test compares it with the migrations).

Queries are written on them (`queries` in each feature).

- Amounts are integers in the resource's unit. `backend_quota` is -1 where the backend says "unlimited"; it is turned
  into a value of its own type as soon as it is read.
- Times are seconds since the epoch, UTC.
- `az` is the name of an availability zone, or `any` (not bound to one), or `unknown` (not a configured one).
- A foreign key that is the first column of another index has none of its own (`index=False`).
"""

from collections.abc import Iterator

import peewee

from limes.app.features import entries, files
from limes.catalog.models import Capacitor, Resource, Service
from limes.commitments.models import CommitmentEventCounter, CommitmentKey
from limes.db.base import BaseModel
from limes.projects.models import Domain, DomainResource, Project, ProjectResource, ProjectService
from limes.requests.models import QuotaRequest

ON_POSTGRESQL: tuple[type[BaseModel], ...] = tuple(entries("models", "ON_POSTGRESQL"))
"""Tables that only PostgreSQL has."""


def _tables() -> Iterator[type[BaseModel]]:
    for file in files("models"):
        own = (one for one in vars(file).values() if isinstance(one, type) and one.__module__ == file.__name__)
        # what has subclasses is no table itself
        yield from (one for one in own if issubclass(one, BaseModel) and not one.__subclasses__())


_SORTED = peewee.sort_models(_tables())  # type: ignore[attr-defined]  # no types of it
MODELS: tuple[type[BaseModel], ...] = tuple(one for one in _SORTED if one not in ON_POSTGRESQL)
"""Tables that both databases have. Tables that others refer to come first."""

LOCK_ORDER: tuple[type[BaseModel], ...] = (
    CommitmentKey,
    Domain,
    Project,
    QuotaRequest,
    Resource,
    Service,
    Capacitor,
    DomainResource,
    ProjectResource,
    ProjectService,
    CommitmentEventCounter,
)
"""In which order a transaction locks rows of these tables, so that no two wait for each other; of one table, in the
order of ids. Rows of other tables are written under one of these locks, or by one job alone. On PostgreSQL the tests
compare each transaction with this."""
