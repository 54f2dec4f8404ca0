"""One request as handlers see it, and what a row of the table says about an operation."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urlencode

import falcon
from msgspec import Struct, field

from limes.api import parameters, policy
from limes.api.answers import Link
from limes.api.parameters import Parameter
from limes.app.context import Limes
from limes.audit.events import Initiator
from limes.auth.context import Authenticator, Identity
from limes.auth.policy import Policy
from limes.catalog.catalog import Catalog, Page, Ref, Selection, select
from limes.db.engine import Engine
from limes.kernel import logs
from limes.kernel.errors import BadRequest, Forbidden
from limes.projects.scope import Place
from limes.quota.rules import Permissions
from limes.web import call as web
from limes.web import middleware, operational
from limes.web import operation as web_operation
from limes.web.call import Body, RequestBody, read_document

P = ParamSpec("P")
T = TypeVar("T")
_LONGEST = 255
_TARGETS = ("domain_id", "project_id")
"""The variables of paths that policy rules may name."""


class ApiCollaborators(Struct, frozen=True):
    """Everything that handlers may use."""

    limes: Limes
    authenticator: Authenticator
    policy: Policy
    client_address: middleware.ClientAddress = field(default_factory=middleware.ClientAddress)
    mounts: tuple[operational.Mount, ...] = ()
    parts: Mapping[type, Any] = field(default_factory=dict)
    """What handlers of one feature need besides, by its type."""

    def part(self, kind: type[T]) -> T | None:
        return self.parts.get(kind)


class Operation(web_operation.Operation, frozen=True):
    """One method of one path, as the OpenAPI document describes it. The handler's docstring is its summary."""

    answers: Mapping[int, Any] = field(default_factory=dict)
    """By status: a shape, `str` for a plain text that may be empty, or None for no body."""
    errors: tuple[int, ...] = ()
    """Statuses besides the common ones of every operation. All of them are plain texts."""
    parameters: tuple[Parameter, ...] = ()
    body: type[RequestBody] | None = None
    tagged: bool = False
    csv: bool = False
    """Whether the answer is CSV for clients that prefer it (`Accept: text/csv`)."""
    name: str = ""
    """In the document, if it is not the handler's; `summary` likewise."""
    summary: str = ""


def _by(method: str, make: Callable[P, Operation]) -> Callable[P, dict[str, Operation]]:
    return lambda *args, **kwargs: {method: make(*args, **kwargs)}


GET, POST, PUT = _by("GET", Operation), _by("POST", Operation), _by("PUT", Operation)
"""Make an `Operation`, by its method, for tables. A path with several of them has `GET(...) | PUT(...)`."""


class Call(web.Call[ApiCollaborators]):
    operation: Operation
    target: Mapping[str, str]
    """What the policy rules are asked about: the ids in the path."""

    @property
    def limes(self) -> Limes:
        """What use cases work with. For use cases that change something, see `as_caller`."""
        return self.deps.limes

    @property
    def engine(self) -> Engine:
        return self.limes.engine

    def as_caller(self) -> Limes:
        return self.limes.as_initiator(self.initiator())

    @property
    def level(self) -> str:
        """Which quota the path is about: `domain` or `project`, as in the names of policy rules."""
        return "project" if "project_id" in self.params else "domain"

    @property
    def place(self) -> Place:
        return Place(self.params.get("domain_id", ""), self.params.get("project_id", ""))

    @property
    def catalog(self) -> Catalog:
        return self.limes.catalog

    def authorize(self) -> None:
        if self.rule is not None:
            self.require(self.rule)

    def require(self, rule: str) -> None:
        """Raises `Forbidden` unless the caller passes the rule. Called before anything is looked up."""
        if not self.allows(rule):
            raise self.refusal(rule)

    def refusal(self, rule: str) -> Forbidden:
        """Returns what tells the caller who may do that."""
        needed = policy.needed_roles(self.deps.policy, rule, self.target)
        return Forbidden(f"Forbidden: this needs {needed}" if needed else "Forbidden")

    def allows(self, rule: str, **more_target: str) -> bool:
        return self.deps.policy.allows(rule, self.identity, {**self.target, **more_target})

    def quota_permissions(self, refs: Iterable[Ref]) -> dict[Ref, Permissions]:
        return {ref: self.permissions(ref) for ref in refs if self.catalog.tracks_quota(ref)}

    def permissions(self, ref: Ref) -> Permissions:
        service_type, resource_name = ref

        def may(verb: str) -> bool:
            return self.allows(f"{self.level}:{verb}", service_type=service_type, resource_name=resource_name)

        can_raise, can_lower = may("raise"), may("lower")
        return Permissions(  # who may do all is not asked about a part of it: each question takes 0.2 ms
            can_raise=can_raise,
            can_raise_lowpriv=can_raise or may("raise_lowpriv"),
            can_lower=can_lower,
            can_lower_lowpriv=can_lower or may("lower_lowpriv"),
        )

    def body(self, model: type[Body]) -> Body:
        """Returns the request's document. Raises `BadRequest`, and falcon's 413 if it is too large."""
        assert model is self.operation.body, "the table names another body"
        return read_document(self.req, model, self.limes.settings.api.max_body_size)

    def initiator(self) -> Initiator:
        return initiator_of(self.req, self.identity)

    def selection(self) -> Selection:
        """Returns what `service`, `area` and `resource` ask for. Each may repeat; an empty value selects nothing."""
        return select(
            self.catalog,
            services=parameters.SERVICE.of(self.req),
            areas=parameters.AREA.of(self.req),
            resources=parameters.RESOURCE.of(self.req),
        )

    def service_types(self) -> list[str] | None:
        """Returns what `service` and `area` ask for, even services that are not configured any more; these are in no
        area. None without both."""
        services, areas = parameters.SERVICE.of(self.req), parameters.AREA.of(self.req)
        if areas is None:
            return services
        configured = self.catalog.services.values()
        return [each.type for each in configured if each.area in areas and (services is None or each.type in services)]

    def refuse_unknown_parameters(self) -> None:
        """Raises `BadRequest` with the list of what is known. For answers that are wrong if a filter has no effect."""
        known = sorted(parameter.name for parameter in self.operation.parameters if parameter.place == "query")
        unknown = sorted(set(self.req.params) - set(known))
        if unknown:
            raise BadRequest(f"unknown query parameter {unknown[0]}: expected one of {', '.join(known)}")

    def page(self) -> Page | None:
        """Returns what `limit` and `marker` ask for; None without `limit`. Raises `BadRequest`."""
        limits = parameters.values_of(self.req, parameters.LIMIT.name) or []
        markers = parameters.values_of(self.req, parameters.MARKER.name) or []
        if not limits:
            if markers:
                raise BadRequest("marker goes with limit only")
            return None
        if len(limits) > 1 or len(markers) > 1:
            raise BadRequest("limit and marker may be given once only")
        return Page(parameters.LIMIT.read(limits[0]), markers[0] if markers else "")

    def next_page(self, page: Page | None, uuids: Sequence[str]) -> list[Link] | None:
        """Returns the link to the page after a full one: None without pagination, an empty list on the last page."""
        if page is None:
            return None
        return self.next_link(uuids[-1]) if len(uuids) >= page.limit else []

    def next_link(self, marker: str) -> list[Link]:
        query = {key: value for key, value in self.req.params.items() if key != "marker"} | {"marker": marker}
        return [Link(rel="next", href=f"{self.req.path}?{urlencode(query, doseq=True)}")]


class LimesApi(web_operation.JsonApi[Operation, Call]):
    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def call(self, req: falcon.Request, operation: Operation, params: Mapping[str, str]) -> Call:
        target = {name: params[name] for name in _TARGETS if name in params}
        return Call(req, self._deps, operation.rule, params, web.identity_of(req), operation, target)


def initiator_of(req: falcon.Request, identity: Identity) -> Initiator:
    """Returns the user behind the request. Whatever the client can make up is cut to size."""
    *before, local = logs.request_id.get().split()
    return Initiator(
        name=_clean(identity.user_name),
        id=_clean(identity.user_id),
        user_domain=_clean(identity.user_domain_name),
        project_id=_clean(identity.project_id),
        project_name=_clean(identity.project_name),
        domain_id=_clean(identity.domain_id),
        domain_name=_clean(identity.domain_name),
        application_credential_id=_clean(identity.application_credential_id),
        address=_clean(req.remote_addr),
        agent=_clean(req.user_agent),
        request_id=local,
        global_request_id=before[0] if before else "",
        path=_clean(req.path),
    )


def _clean(text: str | None) -> str:
    """Returns the text as databases and JSON can hold it: without NUL and half surrogates, and not too long."""
    return (text or "")[:_LONGEST].replace("\0", "").encode("utf-8", "replace").decode()
