"""Identities without Keystone: the sample's, which need no server, and identities that requests claim for themselves.

Sample identities come from the configuration, and are for a first look and for tests. Everybody who can read the
configuration can be anybody, so they are only served on loopback (`IdentitySettings.refuse_exposure`).
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from limes.auth.context import Identity
from limes.auth.settings import SampleSettings, SampleToken, SampleUser, sample_id
from limes.kernel.errors import ConfigError, Unauthorized
from limes.kernel.validation.sections import is_loopback


class Domain(Struct, frozen=True):
    """Of the sample."""

    id: str
    name: str


class Project(Struct, frozen=True):
    """A project of the sample. Without a project above it, the domain is its parent, as in Keystone."""

    id: str
    name: str
    parent_id: str
    domain: Domain


class SampleIdentities:
    """The sample's tokens, and its domains and projects for discovery."""

    def __init__(self, settings: SampleSettings) -> None:
        self._settings = settings
        self.domains = tuple(Domain(item.id or sample_id("domain", item.name), item.name) for item in settings.domains)
        self._domain_of = {domain.name: domain for domain in self.domains}
        ids = {item.name: item.id or sample_id("project", item.name) for item in settings.projects}
        self._project_of: dict[str, Project] = {}
        for item in settings.projects:
            domain = self._domain_of[item.domain]
            parent_id = ids[item.parent] if item.parent else domain.id
            self._project_of[item.name] = Project(ids[item.name], item.name, parent_id, domain)
        self.projects = tuple(self._project_of.values())
        users = {user.name: user for user in settings.users}
        self._tokens = {token.token: self._identity(users[token.user], token) for token in settings.tokens}

    @property
    def identities(self) -> list[Identity]:
        return list(self._tokens.values())

    def authenticate(self, environ: Mapping[str, Any]) -> Identity:
        token = str(environ.get("HTTP_X_AUTH_TOKEN") or "").strip()
        if not token:
            raise Unauthorized("a token is needed: header X-Auth-Token")
        identity = self._tokens.get(token)
        if identity is None:
            raise Unauthorized("the token is none of the sample's")
        return identity

    def challenge(self) -> str:
        return 'Keystone uri="none: sample identities, see identity.sample in the configuration"'

    def _identity(self, user: SampleUser, token: SampleToken) -> Identity:
        home = self._domain_of[user.domain]
        project = self._project_of[token.project] if token.project else None
        domain = self._domain_of[token.domain] if token.domain else None
        roles = [
            role for assignment in user.assignments if assignment.scope == token.scope for role in assignment.roles
        ]
        return Identity(
            user_id=user.id or sample_id("user", user.name),
            user_name=user.name,
            user_domain_id=home.id,
            user_domain_name=home.name,
            project_id=project.id if project else None,
            project_name=project.name if project else None,
            project_domain_id=project.domain.id if project else None,
            project_domain_name=project.domain.name if project else None,
            domain_id=domain.id if domain else None,
            domain_name=domain.name if domain else None,
            system_scope=token.system,
            roles=tuple(dict.fromkeys(roles)),
        )


class NoAuthAuthenticator:
    """Believes what the request says."""

    def __init__(self, listen: str, *, allow_remote: bool = False) -> None:
        """`listen` is the `HOST:PORT` of the server. Raises `ConfigError` if others than this machine can reach it,
        unless `allow_remote` says that this is meant."""
        if not allow_remote and not is_loopback(listen):
            raise ConfigError(
                [f"placement.listen: noauth believes everybody, so it may only listen on 127.0.0.1, not on {listen}"]
            )

    def authenticate(self, environ: Mapping[str, Any]) -> Identity:
        token = environ.get("HTTP_X_AUTH_TOKEN")
        if not token:
            raise Unauthorized("a token is required in the X-Auth-Token header")
        user, _, project = token.partition(":")
        roles = environ.get("HTTP_X_ROLES")
        if roles is not None:
            names = tuple(role.strip() for role in roles.split(",") if role.strip())
        else:
            names = ("admin",) if user == "admin" else ()
        system_scope = environ.get("HTTP_OPENSTACK_SYSTEM_SCOPE")
        return Identity(
            user_id=user,
            project_id=None if system_scope else environ.get("HTTP_X_PROJECT_ID") or project or user,
            system_scope=system_scope or None,
            roles=names,
        )

    def challenge(self) -> str:
        return "noauth"  # made up: no client library has a plugin for it
