"""Names that users give: those of services and resources, and of the domain or project that a command is about.

Keystone says what a token is for; where there is none (sample identities), Limes does. Other names are looked up in
Keystone; where it does not let the user look, or where there is none, in the lists of Limes; and where that does not
either, what was given is taken for an id. Unknown names are errors that say what was probably meant, or which names
exist.
"""

import argparse
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any
from urllib.parse import quote

from openstack.exceptions import DuplicateResource, ForbiddenException, SDKException
from osc_lib.exceptions import CommandError

from limes_osc.client import Json, LimesClient, Query, Refused

_MANY = 20
"""With more names than this, a list of all of them does not help."""
_CLOSE = 0.65
"""How alike names have to be (1: the same) that one may be meant by the other."""


def suggest(name: str, known: Collection[str]) -> str:
    """Returns the end of an error about an unknown name: `did you mean ...?`, or `there are: ...`."""
    lowered = {each.lower(): each for each in known}
    matches = get_close_matches(name.lower(), lowered, n=2, cutoff=_CLOSE)
    if matches:
        return f"did you mean {' or '.join(lowered[match] for match in matches)}?"
    if not known:
        return "there are none"
    if len(known) > _MANY:
        return f"there are {len(known)} others"
    return f"there are: {', '.join(sorted(known))}"


@dataclass(frozen=True, slots=True)
class Inventory:
    services: Collection[str]
    areas: Collection[str]
    resources: Collection[str]
    """As `compute/cores`."""

    def why_unknown(self, service: str, resource: str) -> str:
        """Returns what is wrong with the name of a resource, and what may have been meant; "" if it exists."""
        if f"{service}/{resource}" in self.resources:
            return ""
        pairs = [name.split("/") for name in self.resources]
        elsewhere = [f"{other}/{name}" for other, name in pairs if name == resource]
        if elsewhere:
            return f"there is no such resource; did you mean {' or '.join(elsewhere)}?"
        if service not in self.services:
            return f"there is no such service; {suggest(service, self.services)}"
        return (
            f"{service} has no such resource; {suggest(resource, [name for other, name in pairs if other == service])}"
        )

    def meant_by(self, name: str) -> list[str]:
        """Returns the resources, as `compute/cores`, that are probably meant by a name without a service."""
        dotted = {each: each.replace("/", ".") for each in self.resources}
        short = {each: each.partition("/")[2] for each in self.resources}
        for forms in (dotted, short):
            close = get_close_matches(name.lower(), set(forms.values()), n=1, cutoff=_CLOSE)
            if close:
                return [each for each, form in forms.items() if form == close[0]]
        return []


def read_inventory(limes: LimesClient) -> Inventory | None:
    try:
        services = limes.get("/clusters/current")["cluster"]["services"]
    except Refused:
        return None
    return Inventory(
        [service["type"] for service in services],
        sorted({service["area"] for service in services}),
        [f"{service['type']}/{resource['name']}" for service in services for resource in service["resources"]],
    )


def check_filters(limes: LimesClient, args: argparse.Namespace, rows: Sequence[Json]) -> None:
    """Raises `CommandError` for each filter that names nothing. Only names that no row has are looked up."""
    pairs = [(row.get("Service"), row.get("Resource")) for row in rows]
    seen = {
        "service": {service for service, _ in pairs},
        "area": {row.get("Area") for row in rows},
        "resource": {resource for _, resource in pairs} | {f"{service}/{resource}" for service, resource in pairs},
    }
    # some commands have an argument of the same name, which is no list
    given = {kind: names for kind in seen if isinstance(names := getattr(args, kind, None), list)}
    unseen = [(kind, name) for kind, names in given.items() for name in names if name not in seen[kind]]
    inventory = read_inventory(limes) if unseen else None
    if inventory is None:
        return
    problems = [f"--{kind} {name}: {problem}" for kind, name in unseen if (problem := _problem(inventory, kind, name))]
    if problems:
        raise CommandError("\n".join(problems))


def _problem(inventory: Inventory, kind: str, name: str) -> str:
    service, slash, resource = name.partition("/")
    if kind == "resource" and slash:
        return inventory.why_unknown(service, resource)
    names = {each.partition("/")[2] for each in inventory.resources}
    known = {"service": inventory.services, "area": inventory.areas, "resource": names}[kind]
    return "" if name in known else f"there is no such {kind}; {suggest(name, known)}"


_ID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{64}|[0-9a-f-]{36}|default")
"""What Keystone's ids look like."""
_DOMAINS = "openstack limes domain list"
_PROJECTS = "openstack limes project list --all-domains"
"""Where cloud admins see all of them."""
_NO_SERVICES: Query = (("service", ""),)
"""Reports without resources: only who there is."""


def domain_path(domain_id: str) -> str:
    """Below `/v1`. What a user gave as an id may hold anything."""
    return f"/domains/{quote(domain_id, safe='')}"


def project_path(domain_id: str, project_id: str) -> str:
    return f"{domain_path(domain_id)}/projects/{quote(project_id, safe='')}"


@dataclass(frozen=True, slots=True)
class Own:
    """What the token is for, as far as known. The domain is its own, or that of its project."""

    domain_id: str | None = None
    domain_name: str | None = None
    project_id: str | None = None
    project_name: str | None = None


class Scopes:
    def __init__(self, manager: Any, limes: LimesClient) -> None:
        """`manager` is openstackclient's client manager."""
        self._manager = manager
        self._limes = limes
        self._access = manager.auth_ref
        """What Keystone says of the token; None without Keystone."""
        self._options = manager.get_configuration()

    @cached_property
    def _own(self) -> Own:
        """From Keystone; Limes is asked where there is none."""
        if (access := self._access) is not None:
            domain = access.domain_id or access.project_domain_id, access.domain_name or access.project_domain_name
            return Own(*domain, access.project_id, access.project_name)
        try:
            scope = self._limes.get("/identity")["identity"]["scope"] or {}
        except Refused as refused:
            if refused.status == 404:  # an older Limes, or the original
                return Own()
            raise
        project = scope.get("project", {})
        own = project.get("domain") or scope.get("domain", {})
        return Own(own.get("id"), own.get("name"), project.get("id"), project.get("name"))

    @property
    def has_own_domain(self) -> bool:
        """Whether the token, or the user's settings, name a domain, or a project in one."""
        return bool(self._options.get("limes_domain") or self._own.domain_id)

    @property
    def has_own_project(self) -> bool:
        return bool(self._options.get("limes_project") or (self._own.project_id and self._own.domain_id))

    def domain(self, wanted: str | None, option: str = "--domain") -> str:
        """Returns the id of the domain; errors say that `option` names it. Raises `CommandError` if none is named or
        found."""
        given = wanted or self._options.get("limes_domain")
        own = self._own
        if own.domain_id is not None and given in (None, own.domain_id, own.domain_name):
            self._advise("domain", own.domain_name or own.domain_id, given, _DOMAINS, option)
            return own.domain_id
        if given is None:
            raise CommandError(
                f"which domain? The token is for none: name one with {option}, or set OS_LIMES_DOMAIN"
                f" ({_DOMAINS} shows them)"
            )
        found = self._in_keystone("domain", given)
        if found is not None:
            return str(found.id)
        listed = self._listed("/domains", "domains")
        return self._assume_id("domain", given) if listed is None else str(_pick("domain", given, listed)["id"])

    def domain_path(self, wanted: str | None, option: str = "--domain") -> str:
        return domain_path(self.domain(wanted, option))

    def project_path(self, wanted: str | None, domain: str | None, option: str = "--project") -> str:
        """Returns the path of the project. `domain` (name or id) says where to look; `option` names the project, in
        errors. Raises `CommandError` as above."""
        given = wanted or self._options.get("limes_project")
        named = domain or self._options.get("limes_domain")  # where to look
        own, place = self._own, self.domain(named) if named else None
        is_own = given in (None, own.project_id, own.project_name) and place in (None, own.domain_id)
        if is_own and own.project_id and own.domain_id:
            self._advise("project", own.project_name or own.project_id, given, _PROJECTS, option)
            return project_path(own.domain_id, own.project_id)
        if given is None:
            listing = "openstack limes project list" if own.domain_id else _PROJECTS
            raise CommandError(
                f"which project? The token is for none: name one with {option}, or set OS_LIMES_PROJECT"
                f" ({listing} shows them)"
            )
        found = self._in_keystone("project", given, **({"domain_id": place} if place else {}))
        if found is None:
            return self._project_in_limes(given, place)
        return project_path(str(found.domain_id), str(found.id))

    def _advise(self, kind: str, name: str, given: str | None, listing: str, option: str) -> None:
        """Has errors say what to do if Limes does not know the project or domain of the token, which the command did
        not name."""
        if given is None:
            self._limes.instead = (
                f"{name!r} is the {kind} of your token, which Limes does not manage. Name another one with {option}, or"
                f" set OS_LIMES_{kind.upper()} ({listing} shows them)."
            )

    def _in_keystone(self, kind: str, name_or_id: str, **within: str) -> Any:
        """Returns a domain or project; None if Keystone cannot be asked, or does not show it to this user."""
        if self._access is None:
            return None
        try:
            return getattr(self._manager.sdk_connection.identity, f"find_{kind}")(name_or_id, **within)
        except ForbiddenException:
            return None
        except DuplicateResource:
            raise CommandError(f"there are several {kind}s {name_or_id!r}: name a domain with --domain") from None
        except SDKException as error:
            raise CommandError(f"Keystone cannot be asked for {kind} {name_or_id!r}: {error}") from None

    def _project_in_limes(self, name_or_id: str, domain_id: str | None) -> str:
        if domain_id is None:
            # the list over all domains is for those who see the whole cloud; others have a domain of their own
            listed = self._listed("/projects", "projects")
            if listed is not None:
                project = _pick("project", name_or_id, listed)
                return project_path(str(project["domain"]["id"]), str(project["id"]))
            domain_id = self.domain(None)
        listed = self._listed(f"{domain_path(domain_id)}/projects", "projects")
        if listed is None:
            return project_path(domain_id, self._assume_id("project", name_or_id))
        return project_path(domain_id, str(_pick("project", name_or_id, listed)["id"]))

    def _assume_id(self, kind: str, text: str) -> str:
        if not _ID.fullmatch(text):
            self._limes.guess = f"({text!r} was taken for an ID, as this user may not look up {kind}s by name)"
        return text

    def _listed(self, path: str, key: str) -> list[Json] | None:
        """Returns all that Limes knows; None if this user may not see the list."""
        try:
            entries: list[Json] = self._limes.get(path, _NO_SERVICES)[key]
        except Refused as refused:
            if refused.status == 403:
                return None
            raise
        return entries


def _pick(kind: str, name_or_id: str, listed: list[Json]) -> Json:
    """Returns the one of that id, or else the only one of that name. Raises `CommandError`."""
    matches = [entry for entry in listed if entry["id"] == name_or_id] or [
        entry for entry in listed if entry["name"] == name_or_id
    ]
    if not matches:
        names = [entry["name"] for entry in listed]
        raise CommandError(f"there is no {kind} {name_or_id!r}; {suggest(name_or_id, names)}")
    if len(matches) > 1:
        raise CommandError(f"there are several {kind}s {name_or_id!r}: name a domain with --domain, or give the ID")
    return matches[0]
