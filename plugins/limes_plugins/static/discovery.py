"""The discovery method `static`: domains and projects as written in the configuration."""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from limes import backends

Text = Annotated[str, Field(min_length=1)]


class StaticProject(backends.Params):
    """A project. The parent is a project of the same domain, or the domain itself."""

    id: Text
    name: Text
    parent_id: Text


class StaticDomain(backends.Params):
    """A domain with at least one project."""

    id: Text
    name: Text
    projects: Annotated[tuple[StaticProject, ...], backends.NOT_EMPTY]


class StaticDiscoveryParams(backends.Params):
    """The domains."""

    domains: Annotated[tuple[StaticDomain, ...], backends.NOT_EMPTY]


class StaticDiscovery(backends.DiscoveryBackend):
    """Lists what is configured."""

    def __init__(self, params: StaticDiscoveryParams, context: backends.BackendContext) -> None:
        ids = Counter(domain.id for domain in params.domains)
        ids.update(project.id for domain in params.domains for project in domain.projects)
        problems = [f"domains: the id {id_!r} is given {count} times" for id_, count in ids.items() if count > 1]
        for position, domain in enumerate(params.domains):
            known = {domain.id, *(project.id for project in domain.projects)}
            problems += [
                f"domains[{position}].projects[{number}].parent_id: there is no project {project.parent_id!r}"
                f" in this domain, and it is not the domain's id"
                for number, project in enumerate(domain.projects)
                if project.parent_id not in known
            ]
        if problems:
            raise backends.ConfigError(problems)
        self._domains = {domain.id: domain for domain in params.domains}

    def list_domains(self) -> Iterable[backends.DomainInfo]:
        """Returns the configured domains."""
        return [backends.DomainInfo(domain.id, domain.name) for domain in self._domains.values()]

    def list_projects(self, domain: backends.DomainInfo) -> Iterable[backends.ProjectInfo]:
        """Returns the configured projects of the domain."""
        if domain.id not in self._domains:
            raise backends.BackendError(f"the domain {domain.id} is not configured")
        return [
            backends.ProjectInfo(project.id, project.name, project.parent_id, domain)
            for project in self._domains[domain.id].projects
        ]
