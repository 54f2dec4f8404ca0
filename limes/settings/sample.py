"""Sample identities: a whole small identity service in the configuration file, for a first look and for tests."""

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import Field, model_validator

from limes.validation.sections import Section


def sample_id(kind: str, name: str) -> str:
    """The id of a sample object that was given none: 32 hexadecimal digits made from its name, as Keystone's."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"limes:sample:{kind}:{name}").hex


class SampleDomain(Section):
    """A domain. The id, if not given, is made from the name, and is always the same."""

    name: str = Field(min_length=1)
    """Unique."""
    id: str = ""
    """Made from the name if it is not given."""


class SampleProject(Section):
    """A project in a domain, or below another project of it."""

    name: str = Field(min_length=1)
    """Unique across all domains."""
    id: str = ""
    """Made from the name if it is not given."""
    domain: str
    """The name of its domain."""
    parent: str | None = None
    """The name of the project above it; without one, its parent is the domain."""


class SampleAssignment(Section):
    """Roles of a user on one project, domain, or the system."""

    roles: tuple[str, ...] = Field(min_length=1)
    """Names of roles."""
    project: str | None = None
    """The name of the project that they are for."""
    domain: str | None = None
    """The name of the domain that they are for."""
    system: Literal["all"] | None = None
    """`all`: for the system."""

    @model_validator(mode="after")
    def _one_scope(self) -> "SampleAssignment":
        if sum(scope is not None for scope in (self.project, self.domain, self.system)) != 1:
            raise ValueError("expected exactly one of project, domain and system")
        return self

    @property
    def scope(self) -> tuple[str | None, str | None, str | None]:
        """What it is for, to compare with others."""
        return self.project, self.domain, self.system


class SampleUser(Section):
    """A user of a domain with roles."""

    name: str = Field(min_length=1)
    """Unique across all domains."""
    id: str = ""
    """Made from the name if it is not given."""
    domain: str
    """The name of its domain."""
    assignments: tuple[SampleAssignment, ...] = ()


class SampleToken(Section):
    """A token that never expires: a user, and one of the user's scopes."""

    token: str = Field(min_length=1, pattern=r"^[\x21-\x7e]+$")
    """What clients put into `X-Auth-Token`."""
    user: str
    """The name of its user."""
    project: str | None = None
    """The project that it is for."""
    domain: str | None = None
    """The domain that it is for."""
    system: Literal["all"] | None = None
    """`all`: for the system."""

    @property
    def scope(self) -> tuple[str | None, str | None, str | None]:
        """What it is for, to compare with assignments."""
        return self.project, self.domain, self.system


class SampleSettings(Section):
    """The domains, projects and users of the sample cloud. Names are unique across all domains."""

    domains: tuple[SampleDomain, ...] = ()
    projects: tuple[SampleProject, ...] = ()
    users: tuple[SampleUser, ...] = ()
    tokens: tuple[SampleToken, ...] = ()
    own_token: str | None = None
    """Which of the tokens our own requests to other services carry."""

    @model_validator(mode="after")
    def _references_exist(self) -> "SampleSettings":
        problems = [*self._doubles(), *self._dangling_names(), *self._bad_tokens()]
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def _doubles(self) -> Iterable[str]:
        kinds = {
            "domains": [domain.name for domain in self.domains],
            "projects": [project.name for project in self.projects],
            "users": [user.name for user in self.users],
            "tokens": [token.token for token in self.tokens],
        }
        for kind, names in kinds.items():
            for name, count in Counter(names).items():
                if count > 1:
                    yield f"{kind}: {'one' if kind == 'tokens' else repr(name)} is given {count} times"

    def _dangling_names(self) -> Iterable[str]:
        domains = {domain.name for domain in self.domains}
        projects = {project.name: project for project in self.projects}
        owned: tuple[SampleProject | SampleUser, ...] = (*self.projects, *self.users)
        for item in owned:
            if item.domain not in domains:
                yield f"{item.name!r} is in the unknown domain {item.domain!r}"
        for project in self.projects:
            if project.parent is not None and project.parent not in projects:
                yield f"project {project.name!r} has the unknown parent {project.parent!r}"
            elif project.parent is not None and projects[project.parent].domain != project.domain:
                yield f"project {project.name!r} is in another domain than its parent {project.parent!r}"
            elif self._is_its_own_ancestor(project, projects):
                yield f"project {project.name!r} is its own ancestor"
        for user in self.users:
            for assignment in user.assignments:
                if assignment.project is not None and assignment.project not in projects:
                    yield f"user {user.name!r} has roles on the unknown project {assignment.project!r}"
                if assignment.domain is not None and assignment.domain not in domains:
                    yield f"user {user.name!r} has roles on the unknown domain {assignment.domain!r}"

    @staticmethod
    def _is_its_own_ancestor(project: SampleProject, projects: Mapping[str, SampleProject]) -> bool:
        seen = set()
        above: SampleProject | None = project
        while above is not None and above.name not in seen:
            seen.add(above.name)
            above = projects.get(above.parent or "")
        return above is not None

    def _bad_tokens(self) -> Iterable[str]:
        users = {user.name: user for user in self.users}
        for token in self.tokens:
            user = users.get(token.user)
            if user is None:
                yield f"a token is of the unknown user {token.user!r}"
            elif all(token.scope != assignment.scope for assignment in user.assignments):
                yield f"a token of user {token.user!r} has a scope on which that user has no roles"
        if self.own_token is not None and self.own_token not in {token.token for token in self.tokens}:
            yield "own_token is none of the tokens"
