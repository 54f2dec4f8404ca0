"""Domains and projects as the audit names them."""

from limes.audit.cadf import Scope
from limes.db.queries.domains import DomainRow
from limes.db.queries.projects import ProjectRow
from limes.db.queries.tasks import ProjectTask


def scope_of(project: ProjectRow, domain_uuid: str) -> Scope:
    """A project's."""
    return Scope(domain_uuid, project.domain_name, project.uuid, project.name)


def scope_of_domain(domain: DomainRow) -> Scope:
    """A domain's own."""
    return Scope(domain.uuid, domain.name)


def scope_of_task(task: ProjectTask) -> Scope:
    """That of the project that a job works on."""
    return Scope(task.domain_uuid, task.domain_name, task.project_uuid, task.project_name)
