"""Follows Keystone: adds new domains and projects, renames them, and deletes those that have vanished.

The backend is asked with no transaction open. Invariant: only what was known *before* the backend was asked can count
as vanished. So if two discoveries run at once, the one with the older list does not delete what the other one has just
added.

A vanished project with confirmed commitments is kept, with a warning, until they have expired: somebody pays for them.
Its other commitments are deleted, and so are all other vanished projects. What these have used becomes free for
commitments that wait.
"""

import contextlib
import logging
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from limes.actions.change_log import ChangeLog
from limes.actions.commitments.settle import delete_unconfirmed, settle_waiting
from limes.actions.compute_quota import mark_growing_due
from limes.actions.context import Limes
from limes.actions.lookup import find_domain, find_project
from limes.actions.metering.usage import VALID_FOR, end_metering
from limes.actions.quota_requests.outlive import outlive_projects
from limes.audit.cadf import Scope
from limes.audit.initiator import Initiator
from limes.backends import DiscoveryBackend, DomainInfo, ProjectInfo, calls
from limes.core.catalog import Catalog, Ref
from limes.core.constraints import ConstraintSet
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import discovery as queries
from limes.db.queries import lifetimes
from limes.db.queries.metering import note_names
from limes.db.transactions import atomic
from limes.errors import BackendError, NotFound
from limes.system import Clock

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Discover:
    engine: Engine
    backend: DiscoveryBackend
    catalog: Catalog
    constraints: ConstraintSet
    clock: Clock
    limes: Limes
    change_log: ChangeLog
    except_domains: re.Pattern[str] | None = None
    only_domains: re.Pattern[str] | None = None
    usage_valid_for: float = VALID_FOR
    """How long (in seconds) the usage of a project counts as known, without another scrape."""

    def by(self, initiator: Initiator) -> "Discover":
        """Returns the same use case for changes that `initiator` makes."""
        return replace(self, change_log=self.change_log.by(initiator), limes=self.limes.as_initiator(initiator))

    def run(self) -> None:
        """Follows all domains and their projects.

        Raises `BackendError` if some could not be listed, after doing all others.
        """
        domains, new = self._merge_domains()
        errors = [self._try_projects(domain) for domain in domains]
        for uuid in new:
            log.info("new domain %s", uuid)
        problems = [str(error) for error in errors if error]
        if problems:
            raise BackendError("; ".join(problems))

    def discover_domains(self) -> Sequence[str]:
        """Follows all domains and the projects of new ones. Returns the new domains' UUIDs. Raises `BackendError`."""
        domains, new = self._merge_domains()
        for domain in domains:
            if domain.id in new:
                self._merge_projects(domain)
        return new

    def discover_projects(self, domain_uuid: str) -> Sequence[str]:
        """Follows the projects of one domain. Returns the UUIDs of new ones.

        Raises `NotFound` for a domain that is not known, and `BackendError`.
        """
        row = self.engine.snapshot(lambda: find_domain(self.engine, domain_uuid))
        return self._merge_projects(DomainInfo(row.uuid, row.name))

    def request_sync(self, domain_uuid: str, project_uuid: str) -> None:
        """Asks for a scrape of all services of a project. Looks for it in Keystone first if it is not known.

        Raises `NotFound` and `BackendError`.
        """
        if not self._mark_stale(domain_uuid, project_uuid):
            self.discover_projects(domain_uuid)
            if not self._mark_stale(domain_uuid, project_uuid):
                raise NotFound("no such project")

    @atomic
    def _mark_stale(self, domain_uuid: str, project_uuid: str) -> bool:
        find_domain(self.engine, domain_uuid)
        try:
            project = find_project(self.engine, domain_uuid, project_uuid)
        except NotFound:
            return False
        queries.mark_stale(self.engine, project.id)
        return True

    def _try_projects(self, domain: DomainInfo) -> BackendError | None:
        try:
            self._merge_projects(domain)
        except BackendError as error:
            return error
        return None

    # -- domains -----------------------------------------------------------------------------------------------------

    def _merge_domains(self) -> tuple[list[DomainInfo], list[str]]:
        known = set(self.engine.snapshot(lambda: queries.domain_ids(self.engine)))
        listed = calls.list_domains(self.backend, self.except_domains, self.only_domains)
        if known and not listed:
            raise BackendError(
                "while listing domains: there are none at all, which is not believed; nothing is deleted"
            )
        vanished = known - {domain.id for domain in listed}
        projects = self.engine.snapshot(lambda: queries.projects_of_domains(self.engine, vanished))
        delete_unconfirmed(self.limes, projects)
        new = self.engine.atomic(lambda: self._write_domains(vanished, listed))
        return listed, new

    def _write_domains(self, vanished: set[str], listed: Sequence[DomainInfo]) -> list[str]:
        before = queries.domain_ids(self.engine)
        new = [domain.id for domain in listed if domain.id not in before]
        resources = catalog_queries.resource_ids(self.engine)
        for domain in sorted(listed, key=lambda domain: domain.id):
            id_ = queries.upsert_domain(self.engine, domain.id, domain.name)
            if domain.id in new:
                queries.add_domain_quotas(self.engine, id_, self._initial_quotas(domain, resources))
                self._record_constraints(domain, resources)
        if vanished:
            queries.lock_projects(self.engine, queries.projects_of_domains(self.engine, vanished))
            self.engine.after_commit(self._give_away)
        kept = queries.committed_domains(self.engine, vanished)
        for uuid in kept:
            log.warning("domain %s has vanished, but is kept: projects of it have commitments", uuid)
        projects = queries.projects_of_domains(self.engine, kept)
        self._delete_projects(projects - queries.committed_projects(self.engine, projects))
        gone = queries.projects_of_domains(self.engine, vanished - kept)
        self._end_metering(gone)
        self.change_log.record_deletion(domains=vanished - kept)
        with self._ending_lifetimes(gone):
            queries.delete_domains(self.engine, sorted(vanished - kept))
        return new

    def _delete_projects(self, uuids: Collection[str]) -> None:
        outlive_projects(self.change_log, uuids)
        self._end_metering(uuids)
        self.change_log.record_deletion(projects=uuids)
        with self._ending_lifetimes(uuids):
            queries.delete_projects(self.engine, sorted(uuids))

    @contextlib.contextmanager
    def _ending_lifetimes(self, projects: Collection[str]) -> Iterator[None]:
        """Ends what is followed of the subresources of projects that are deleted within the block."""
        if projects:
            lifetimes.note_last_scrapes(self.engine, projects)
        yield
        if projects:
            lifetimes.end_projects(self.engine, projects, self.clock.now().timestamp())

    def _end_metering(self, uuids: Collection[str]) -> None:
        end_metering(self.engine, uuids, self.clock.now().timestamp(), self.usage_valid_for)

    def _give_away(self) -> None:
        """Lets others have what vanished projects have used."""
        settle_waiting(self.limes)
        mark_growing_due(self.engine, self.catalog, self.clock.now().timestamp())

    def _record_constraints(self, domain: DomainInfo, resources: Collection[Ref]) -> None:
        """Records the quotas that constraints have given to a new domain."""
        changes = [
            (ref, None, constraint.apply_to(0), constraint)
            for ref, constraint in self.constraints.domains.get(domain.name, {}).items()
            if ref in resources and constraint.apply_to(0)
        ]
        self.change_log.record_constrained(Scope(domain.id, domain.name), changes)

    def _initial_quotas(self, domain: DomainInfo, resources: dict[tuple[str, str], int]) -> dict[int, int]:
        """Returns initial quotas: 0, or what the constraint of the domain demands."""
        quotas = {}
        for ref in self.catalog.refs():
            resource = self.catalog.find(ref)
            if resource is not None and resource.tracks_quota and ref in resources:
                constraint = self.constraints.for_domain(ref, domain.name)
                quotas[resources[ref]] = constraint.apply_to(0) if constraint else 0
        return quotas

    # -- projects ----------------------------------------------------------------------------------------------------

    def _merge_projects(self, domain: DomainInfo) -> list[str]:
        def read() -> set[str]:
            id_ = queries.domain_ids(self.engine).get(domain.id)
            return set(queries.projects_of(self.engine, id_)) if id_ is not None else set()

        known = self.engine.snapshot(read)
        listed = calls.list_projects(self.backend, domain)
        vanished = known - {project.id for project in listed}
        delete_unconfirmed(self.limes, vanished)
        return self.engine.atomic(lambda: self._write_projects(domain, vanished, listed))

    def _write_projects(self, domain: DomainInfo, vanished: set[str], listed: Sequence[ProjectInfo]) -> list[str]:
        domain_id = queries.domain_ids(self.engine).get(domain.id)
        if domain_id is None:  # deleted by another discovery
            return []
        before = queries.projects_of(self.engine, domain_id)
        changed = [
            (project.id, project.name, project.parent_id)
            for project in sorted(listed, key=lambda project: project.id)
            if project.id not in before or before[project.id][2:] != (project.name, project.parent_id)
        ]
        queries.upsert_projects(self.engine, domain_id, changed)
        if changed:
            note_names(self.engine, int(self.clock.now().timestamp()))
        new = [project.id for project in listed if project.id not in before]
        if new:
            queries.add_project_services(self.engine, self.clock.now().timestamp(), domain_id)
            log.info("domain %s: %d new projects", domain.name, len(new))
        if vanished:
            queries.lock_projects(self.engine, vanished)
            self.engine.after_commit(self._give_away)
        kept = queries.committed_projects(self.engine, vanished)
        for uuid in kept:
            log.warning("project %s of domain %s has vanished, but is kept: it has commitments", uuid, domain.name)
        self._delete_projects(vanished - kept)
        return new
