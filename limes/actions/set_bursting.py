"""Switches quota bursting of a project on and off.

Source: the original. Switching off needs the usage of every resource to be within its quota, as the backend is told the
plain quota from then on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from limes.actions.precondition import Unchanged
from limes.actions.quota_state import project_tag
from limes.actions.reports.projects import find_project
from limes.actions.scopes import scope_of
from limes.actions.set_project_quota import PushQuota
from limes.actions.trail import Trail
from limes.audit.initiator import Initiator
from limes.core.catalog import Catalog, Ref
from limes.db.engine import Engine
from limes.db.queries import bursting as queries
from limes.db.queries.projects import ProjectRow
from limes.db.queries.quota_pushes import mark_desynced
from limes.errors import BadRequest, Conflict
from limes.system import Clock


@dataclass(frozen=True, slots=True)
class SetBursting:
    """The use case with what it works with."""

    engine: Engine
    catalog: Catalog
    clock: Clock
    push: PushQuota
    trail: Trail

    def run(
        self,
        domain_uuid: str,
        project_uuid: str,
        initiator: Initiator,
        *,
        enabled: bool,
        dry_run: bool,
        condition: Unchanged | None = None,
    ) -> Sequence[str]:
        """Switches bursting and tells the backends. Answers one line for each backend that could not be told yet.

        Raises `NotFound`, `BadRequest` where the cluster has no bursting, `Conflict` while something is bursted, and
        `PreconditionFailed`.
        """
        if not self.catalog.burst_multiplier:
            raise BadRequest("bursting is not available for this cluster")

        trail = self.trail.by(initiator)

        def work() -> tuple[int, Sequence[str]]:
            project = find_project(self.engine, domain_uuid, project_uuid)
            present = queries.lock_project(self.engine, project.id, lock=not dry_run)
            if condition is not None:
                condition.check(project_tag(self.engine, self.catalog, project.id, lock=not dry_run))
            if present == enabled:
                return project.id, ()
            if not enabled:
                self._refuse_while_bursted(project.id)
            return project.id, () if dry_run else self._write(trail, project, domain_uuid, enabled)

        if dry_run:
            self.engine.snapshot(work)
            return ()
        try:
            project_id, services = self.engine.atomic(work)
        except Conflict as error:
            self._write_refusal(trail, domain_uuid, project_uuid, enabled, str(error))
            raise
        return self.push(project_id, services) if services else ()

    def _write(self, trail: Trail, project: ProjectRow, domain_uuid: str, enabled: bool) -> Sequence[str]:
        project_id = project.id
        queries.write_bursting(self.engine, project_id, enabled)
        trail.bursting(scope_of(project, domain_uuid), enabled)
        services = list(self.catalog.services)
        mark_desynced(self.engine, project_id, services, self.clock.now().timestamp())
        return services

    def _write_refusal(self, trail: Trail, domain_uuid: str, project_uuid: str, enabled: bool, message: str) -> None:
        """In a transaction of its own, as that of the request is undone."""

        def work() -> None:
            project = find_project(self.engine, domain_uuid, project_uuid)
            trail.bursting_refused(scope_of(project, domain_uuid), enabled, message)

        if trail.has_sinks:
            self.engine.atomic(work)

    def _refuse_while_bursted(self, project_id: int) -> None:
        bursted: list[Ref] = sorted(
            ref for ref in queries.bursted_resources(self.engine, project_id) if self.catalog.find(ref)
        )
        if bursted:
            count = f"{len(bursted)} resource is" if len(bursted) == 1 else f"{len(bursted)} resources are"
            names = ", ".join("/".join(ref) for ref in bursted)
            raise Conflict(f"cannot disable bursting because {count} currently bursted: {names}")
