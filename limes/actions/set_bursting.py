"""Switches quota bursting of a project on and off.

Source: the original. Bursting can only be switched off while the usage of every resource is within its quota: the
backend is told the plain quota from then on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from limes.actions.change_log import ChangeLog, scope_of
from limes.actions.lookup import find_project
from limes.actions.quota_changes import TellBackends, Unchanged, project_tag
from limes.audit.initiator import Initiator
from limes.core.catalog import Catalog, Ref
from limes.db.engine import Engine
from limes.db.queries import project_quotas as queries
from limes.db.queries.projects import ProjectRow
from limes.db.transactions import atomic
from limes.errors import BadRequest, Conflict


@dataclass(frozen=True, slots=True)
class SetBursting:
    engine: Engine
    catalog: Catalog
    tell_backends: TellBackends
    change_log: ChangeLog

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
        """Switches bursting and tells the backends. Returns one line for each backend that could not be told yet.

        Raises `NotFound`, `BadRequest` where the cluster has no bursting, `Conflict` while something is bursted, and
        `PreconditionFailed`.
        """
        if not self.catalog.burst_multiplier:
            raise BadRequest("bursting is not available for this cluster")

        change_log = self.change_log.by(initiator)

        def work() -> tuple[int, Sequence[str]]:
            project = find_project(self.engine, domain_uuid, project_uuid)
            present = queries.lock_project(self.engine, project.id, lock=not dry_run)
            if condition is not None:
                condition.check(project_tag(self.engine, self.catalog, project.id, lock=not dry_run))
            if present == enabled:
                return project.id, ()
            if not enabled:
                self._refuse_while_bursted(project.id)
            return project.id, () if dry_run else self._write(change_log, project, enabled)

        if dry_run:
            self.engine.snapshot(work)
            return ()
        try:
            project_id, services = self.engine.atomic(work)
        except Conflict as error:
            if change_log.has_sinks:
                self._record_refusal(change_log, domain_uuid, project_uuid, enabled, str(error))
            raise
        return self.tell_backends(project_id, services) if services else ()

    def _write(self, change_log: ChangeLog, project: ProjectRow, enabled: bool) -> Sequence[str]:
        queries.write_bursting(self.engine, project.id, enabled)
        change_log.record_bursting(scope_of(project), enabled)
        services = list(self.catalog.services)
        change_log.request_push(project.id, services)
        return services

    @atomic
    def _record_refusal(
        self, change_log: ChangeLog, domain_uuid: str, project_uuid: str, enabled: bool, message: str
    ) -> None:
        """Records a refusal in a transaction of its own, as that of the request is undone."""
        project = find_project(self.engine, domain_uuid, project_uuid)
        change_log.record_refused_bursting(scope_of(project), enabled, message)

    def _refuse_while_bursted(self, project_id: int) -> None:
        bursted: list[Ref] = sorted(
            ref for ref in queries.bursted_resources(self.engine, project_id) if self.catalog.find(ref)
        )
        if bursted:
            count = f"{len(bursted)} resource is" if len(bursted) == 1 else f"{len(bursted)} resources are"
            names = ", ".join("/".join(ref) for ref in bursted)
            raise Conflict(f"cannot disable bursting because {count} currently bursted: {names}")
