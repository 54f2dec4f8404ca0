"""Shows from when to when subresources were there."""

from collections.abc import Sequence
from dataclasses import dataclass

from limes.actions.lookup import find_domain, find_project
from limes.db.engine import Engine
from limes.db.queries import lifetime_reports as queries
from limes.db.queries.lifetime_reports import LifetimeFilter, LifetimeRow


@dataclass(frozen=True, slots=True)
class ShowLifetimes:
    """The use case."""

    engine: Engine

    def run(self, wanted: LifetimeFilter, after: int, limit: int) -> Sequence[LifetimeRow]:
        """Returns a page of periods. Raises `NotFound` for a domain or project that is not there and never had any."""

        def read() -> Sequence[LifetimeRow]:
            domain, project = wanted.domain_uuid, wanted.project_uuid
            if domain is not None and not queries.was_there(self.engine, domain, project):
                find_domain(self.engine, domain)
                if project is not None:
                    find_project(self.engine, domain, project)
            return queries.page(self.engine, wanted, after, limit)

        return self.engine.snapshot(read)
