"""Follows Keystone: adds new domains and projects, renames them, and deletes vanished ones.

The backend is asked with no transaction open. Invariant: only what was known *before* the backend was asked can count
as vanished. So if two discoveries run at once, the one with the older list does not delete what the other one has just
added.

A vanished project with confirmed commitments is kept, with a warning, until they have expired, since they are paid for.
Its other commitments are deleted, and so are all other vanished projects. What these have used becomes free for
commitments that wait.
"""

import contextlib
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from limes.app.context import Limes
from limes.audit.events import Scope
from limes.autogrow.compute import mark_growing_due
from limes.backends import DomainInfo, ProjectInfo, calls
from limes.catalog import catalog
from limes.catalog import queries as catalog_queries
from limes.commitments.settle import delete_unconfirmed, settle_waiting
from limes.db.transactions import atomic
from limes.kernel.errors import BackendError, NotFound
from limes.lifetimes import queries as lifetimes
from limes.metering.queries import note_names
from limes.metering.usage import end_metering
from limes.projects import discovery as queries
from limes.projects import scope
from limes.quota import change_log
from limes.quota.queries import add_quotas
from limes.requests.pass_on import outlive_projects

log = logging.getLogger(__name__)


def discover(limes: Limes) -> None:
    """Follows all domains and their projects. Raises `BackendError` if some could not be listed, after doing all
    others."""
    domains, new = _merge_domains(limes)
    problems = []
    for domain in domains:
        try:
            _merge_projects(limes, domain)
        except BackendError as error:
            problems.append(str(error))
    for uuid in new:
        log.info("new domain %s", uuid)
    if problems:
        raise BackendError("; ".join(problems))


def discover_domains(limes: Limes) -> Sequence[str]:
    """Follows all domains and the projects of new ones. Returns the new domains' UUIDs. Raises `BackendError`."""
    domains, new = _merge_domains(limes)
    for domain in domains:
        if domain.id in new:
            _merge_projects(limes, domain)
    return new


def discover_projects(limes: Limes, domain_uuid: str) -> Sequence[str]:
    """Follows the projects of one domain. Returns the UUIDs of new ones. Raises `NotFound` for a domain that is not
    known, and `BackendError`."""
    row = limes.engine.snapshot(lambda: scope.find_domain(limes.engine, domain_uuid))
    return _merge_projects(limes, DomainInfo(row.uuid, row.name))


def request_sync(limes: Limes, domain_uuid: str, project_uuid: str) -> None:
    """Asks for a scrape of all services of a project. Looks for it in Keystone first if it is not known. Raises
    `NotFound` and `BackendError`."""
    if not _mark_stale(limes, domain_uuid, project_uuid):
        discover_projects(limes, domain_uuid)
        if not _mark_stale(limes, domain_uuid, project_uuid):
            raise NotFound("no such project")


@atomic
def _mark_stale(limes: Limes, domain_uuid: str, project_uuid: str) -> bool:
    scope.find_domain(limes.engine, domain_uuid)
    try:
        project = scope.find_project(limes.engine, domain_uuid, project_uuid)
    except NotFound:
        return False
    queries.mark_stale(limes.engine, project.id)
    return True


def _merge_domains(limes: Limes) -> tuple[list[DomainInfo], list[str]]:
    rules = limes.settings.discovery
    known = set(limes.engine.snapshot(lambda: queries.domain_ids(limes.engine)))
    listed = calls.list_domains(limes.backends.discovery, rules.except_domains, rules.only_domains)
    if known and not listed:
        raise BackendError("while listing domains: there are none at all, which cannot be right; nothing is deleted")
    vanished = known - {domain.id for domain in listed}
    projects = limes.engine.snapshot(lambda: queries.projects_of_domains(limes.engine, vanished))
    delete_unconfirmed(limes, projects)
    return listed, _write_domains(limes, vanished, listed)


@atomic
def _write_domains(limes: Limes, vanished: set[str], listed: Sequence[DomainInfo]) -> list[str]:
    before = queries.domain_ids(limes.engine)
    new = [domain.id for domain in listed if domain.id not in before]
    resources = catalog_queries.resource_ids(limes.engine)
    for domain in sorted(listed, key=lambda domain: domain.id):
        id_ = queries.upsert_domain(limes.engine, domain.id, domain.name)
        if domain.id in new:
            _give_quotas(limes, id_, domain, resources)
    if vanished:
        queries.lock_projects(limes.engine, queries.projects_of_domains(limes.engine, vanished))
        limes.engine.after_commit(partial(_give_away, limes))
    kept = queries.committed_domains(limes.engine, vanished)
    for uuid in kept:
        log.warning("domain %s has vanished, but is kept: projects of it have commitments", uuid)
    projects = queries.projects_of_domains(limes.engine, kept)
    _delete_projects(limes, projects - queries.committed_projects(limes.engine, projects))
    gone = queries.projects_of_domains(limes.engine, vanished - kept)
    end_metering(limes, gone)
    change_log.record_deletion(limes, domains=vanished - kept)
    with _ending_lifetimes(limes, gone):
        queries.delete_domains(limes.engine, sorted(vanished - kept))
    return new


def _delete_projects(limes: Limes, uuids: Collection[str]) -> None:
    outlive_projects(limes, uuids)
    end_metering(limes, uuids)
    change_log.record_deletion(limes, projects=uuids)
    with _ending_lifetimes(limes, uuids):
        queries.delete_projects(limes.engine, sorted(uuids))


@contextlib.contextmanager
def _ending_lifetimes(limes: Limes, projects: Collection[str]) -> Iterator[None]:
    """Ends what is followed of the subresources of projects that are deleted within the block."""
    if projects:
        lifetimes.note_last_scrapes(limes.engine, "of projects", projects)
    yield
    if projects:
        lifetimes.end_projects(limes.engine, projects, limes.now())


def _give_away(limes: Limes) -> None:
    """Lets others have what vanished projects have used."""
    settle_waiting(limes)
    mark_growing_due(limes.engine, limes.catalog, limes.now())


def _give_quotas(limes: Limes, id_: int, domain: DomainInfo, resources: Mapping[catalog.Ref, int]) -> None:
    """Gives a new domain its quotas: 0, or what its constraints demand, which is recorded."""
    constraints = limes.constraints.domains.get(domain.name, {})
    demanded = {ref: constraint.apply_to(0) for ref, constraint in constraints.items()}
    tracked = [ref for ref in limes.catalog.refs() if limes.catalog.tracks_quota(ref) and ref in resources]
    add_quotas(limes.engine, [(id_, resources[ref], demanded.get(ref, 0)) for ref in tracked])
    changes = [(ref, None, quota, constraints[ref]) for ref, quota in demanded.items() if ref in resources and quota]
    change_log.record_constrained(limes, Scope(domain.id, domain.name), changes)


def _merge_projects(limes: Limes, domain: DomainInfo) -> list[str]:
    known = limes.engine.snapshot(lambda: queries.projects_of_domains(limes.engine, [domain.id]))
    listed = calls.list_projects(limes.backends.discovery, domain)
    vanished = known - {project.id for project in listed}
    delete_unconfirmed(limes, vanished)
    return _write_projects(limes, domain, vanished, listed)


@atomic
def _write_projects(limes: Limes, domain: DomainInfo, vanished: set[str], listed: Sequence[ProjectInfo]) -> list[str]:
    domain_id = queries.domain_ids(limes.engine).get(domain.id)
    if domain_id is None:  # deleted by another discovery
        return []
    before = queries.projects_of(limes.engine, domain_id)
    changed = [
        (project.id, project.name, project.parent_id)
        for project in sorted(listed, key=lambda project: project.id)
        if project.id not in before or before[project.id] != (project.name, project.parent_id)
    ]
    queries.upsert_projects(limes.engine, domain_id, changed)
    if changed:
        note_names(limes.engine, int(limes.now()))
    new = [project.id for project in listed if project.id not in before]
    if new:
        queries.add_project_services(limes.engine, limes.now(), domain_id)
        log.info("domain %s: %d new projects", domain.name, len(new))
    if vanished:
        queries.lock_projects(limes.engine, vanished)
        limes.engine.after_commit(partial(_give_away, limes))
    kept = queries.committed_projects(limes.engine, vanished)
    for uuid in kept:
        log.warning("project %s of domain %s has vanished, but is kept: it has commitments", uuid, domain.name)
    _delete_projects(limes, vanished - kept)
    return new
