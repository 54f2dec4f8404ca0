"""Who may use the APIs, and how we log in elsewhere. Sample identities are a whole small identity service in the
configuration file, for a first look and for tests."""

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import Field, model_validator

from limes.kernel.errors import StartupError
from limes.kernel.validation.durations import Seconds, SecondsOrZero
from limes.kernel.validation.sections import ConfigPath, Section, is_loopback


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


class KeystoneSettings(Section):
    """How we log in at Keystone: with the entry `cloud` of a clouds.yaml, or with the explicit values below, or, when
    neither is given, with the environment's `OS_*` variables."""

    cloud: str | None = None
    """The name of an entry in clouds.yaml, which is looked for where every OpenStack client looks."""
    auth_url: str | None = Field(default=None, pattern=r"^https?://[^/]+")
    """Keystone's address, such as `https://keystone.example.org/v3`."""
    username: str | None = None
    """Our user, with its domain and a password."""
    user_domain_name: str | None = None
    """The user's domain, by name."""
    user_domain_id: str | None = None
    """The user's domain, by id."""
    password: str | None = Field(default=None, repr=False)
    """Environment: `LIMES_IDENTITY_PASSWORD`."""
    project_name: str | None = None
    """The project that our token is for."""
    project_domain_name: str | None = None
    """The project's domain, by name."""
    project_domain_id: str | None = None
    """The project's domain, by id."""
    domain_name: str | None = None
    """Instead of a project: a token for a domain."""
    system_scope: Literal["all"] | None = None
    """Instead of a project: a token for the system."""
    application_credential_id: str | None = None
    """Instead of a user and password."""
    application_credential_secret: str | None = Field(default=None, repr=False)
    """Goes with `application_credential_id`."""
    region_name: str | None = None
    """The region whose services are used."""
    interface: Literal["public", "internal", "admin"] = "public"
    """Which addresses of the service catalog are used, by plugins as well unless their `params` say otherwise."""
    cacert: ConfigPath | None = None
    """A file with the certificate authorities of Keystone and the services."""
    insecure: bool = False
    """Don't check certificates. For a laboratory only."""
    timeout: Seconds = 10.0
    """How long an answer may take, from the request to its last byte."""
    www_authenticate_uri: str | None = None
    """The address that clients without a token are sent to, if it is not the one that we use ourselves."""

    @model_validator(mode="after")
    def _one_way_in(self) -> "KeystoneSettings":
        if self.cloud and self.auth_url:
            raise ValueError("give either cloud (an entry of clouds.yaml) or auth_url, not both")
        if not self.auth_url and (self.username or self.application_credential_id):
            raise ValueError("username and application_credential_id need an auth_url")
        if (self.application_credential_id is None) != (self.application_credential_secret is None):
            raise ValueError("application_credential_id and application_credential_secret must be given together")
        if self.auth_url and not (self.username or self.application_credential_id):
            raise ValueError("auth_url needs username and password, or an application credential")
        if self.username and self.password is None:
            raise ValueError("username needs a password; environment: LIMES_IDENTITY_PASSWORD")
        scopes = [self.project_name, self.domain_name, self.system_scope]
        if self.username and sum(scope is not None for scope in scopes) != 1:
            raise ValueError("username needs exactly one of project_name, domain_name and system_scope")
        return self


class TokenCacheSettings(Section):
    """How long Keystone's answer about a token is remembered. A revoked token works for at most that long."""

    ttl: SecondsOrZero = 300.0
    """For a valid token, but never beyond its end."""
    negative_ttl: SecondsOrZero = 10.0
    """For an invalid one."""
    size: int = Field(default=10_000, ge=1)
    """Tokens that each process remembers."""
    signed_out_folder: ConfigPath | None = None
    """Where processes tell each other which tokens have ended by signing out of the dashboard, so that none accepts
    them any longer. The workers of one API do so by themselves; name a folder that others (further APIs, Placement)
    share with them to have these refuse the token at once, too, and not only after `ttl`. The key for the cookies of
    browsers that have signed in before is there as well."""


class IdentitySettings(Section):
    """Who may use the APIs, and how we log in elsewhere."""

    method: Literal["keystone", "sample", "noauth"] = "keystone"
    """`keystone` in production; `sample` takes the identities below; `noauth` (Placement only) trusts the client."""
    validator: Literal["own", "keystonemiddleware"] = "own"
    """What asks Keystone about tokens: our own small validator, or the library of the OpenStack project."""
    keystone: KeystoneSettings = KeystoneSettings()
    cache: TokenCacheSettings = TokenCacheSettings()
    validations_at_once: int | None = Field(default=None, ge=1)
    """Threads of a worker that may wait for Keystone at the same time, whatever for: unknown tokens, sign-ins, scopes,
    discovery, mail addresses. By default half of them, and never all. While Keystone is slow, further requests that
    need it are answered with 503 and `Retry-After`, so that known tokens are not held up."""
    service_token_roles: tuple[str, ...] = ("service",)
    """A service token (`X-Service-Token`) counts if it has one of these roles. A request that carries one may bring a
    user token that has just expired."""
    endpoints: dict[str, str] = Field(default_factory=dict)
    """Addresses of services by type, instead of those in Keystone's catalog."""
    sample: SampleSettings = SampleSettings()
    allow_non_loopback: bool = False
    """Serve `sample` or `noauth` identities to the network, where everybody can be anybody."""

    def refuse_exposure(self, listen: Mapping[str, str]) -> None:
        """Raises `StartupError` if everybody could be anybody: identities that are not Keystone's, beyond this machine.
        `listen` holds `HOST:PORT` by the name of the setting that it comes from."""
        if self.method == "keystone" or self.allow_non_loopback:
            return
        for name, address in listen.items():
            if not is_loopback(address):
                raise StartupError(
                    f"{name}: identity.method is {self.method!r}, which lets anybody in, so that it is only served on "
                    f"loopback, not on {address}. If that is what you want: identity.allow_non_loopback: true"
                )
