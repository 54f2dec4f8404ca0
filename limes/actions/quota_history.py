"""The history of the quotas of a project, or of a domain."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from limes.actions.lookup import find_domain, find_project
from limes.core.catalog import Ref
from limes.db.engine import Engine
from limes.db.queries import history as queries
from limes.db.queries.history import NumberedChange
from limes.db.transactions import snapshot
from limes.system import Clock

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class ShowHistory:
    """The use cases. `refs` None means everything, including resources that are not configured any more. Changes of a
    whole project are shown with any `refs`. `before` is the number of a change."""

    engine: Engine

    @snapshot
    def of_project(
        self, domain_uuid: str, project_uuid: str, refs: Collection[Ref] | None, before: int, limit: int
    ) -> Sequence[NumberedChange]:
        """Returns at most `limit` changes, the newest first. Raises `NotFound`."""
        find_project(self.engine, domain_uuid, project_uuid)
        return self._page(domain_uuid, project_uuid, refs, before, limit)

    @snapshot
    def of_domain(
        self, domain_uuid: str, refs: Collection[Ref] | None, before: int, limit: int
    ) -> Sequence[NumberedChange]:
        """Returns the same for the domain's own quotas, without those of its projects. Raises `NotFound`."""
        find_domain(self.engine, domain_uuid)
        return self._page(domain_uuid, "", refs, before, limit)

    def _page(
        self, domain_uuid: str, project_uuid: str, refs: Collection[Ref] | None, before: int, limit: int
    ) -> Sequence[NumberedChange]:
        if refs is not None and not refs:
            return []
        return queries.page(self.engine, domain_uuid, project_uuid, refs, before, limit)


@dataclass(frozen=True, slots=True)
class ForgetHistory:
    """The use case that deletes history older than `retention` seconds."""

    engine: Engine
    clock: Clock
    retention: float

    def run(self) -> None:
        """The job. Several may run it at once."""
        before = self.clock.now().timestamp() - self.retention
        while self.engine.atomic(lambda: queries.forget_before(self.engine, before, _BATCH)) == _BATCH:
            pass
