"""The operations of the LIQUID protocol, for one service."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import falcon

from limes.auth.context import Authenticator
from limes.auth.policy import Policy
from limes.backends import CapacityBackend, CapacityReport, QuotaBackend, ServiceDef, calls
from limes.core.catalog import Catalog
from limes.errors import Forbidden, Unprocessable
from limes.liquid import render
from limes.liquid.bodies import CapacityRequest, QuotaRequest, UsageRequest, project_of
from limes.liquid.version import derived_version, kept_version
from limes.system import Clock, IdSource
from limes.web import call as web
from limes.web.call import Answer, Body, identity_of, read_document
from limes.web.client_address import ClientAddress
from limes.web.operation import JsonApi, Operation

MAX_BODY_SIZE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class LiquidCollaborators:
    """What the app works with."""

    service: ServiceDef
    backend: QuotaBackend
    capacity: Mapping[str, CapacityBackend]
    """By the capacitor's id; each may report on this service, and on others."""
    capacity_of: frozenset[str]
    """The resources whose capacity some capacitor knows."""
    needs_demand: frozenset[str]
    """The resources whose demand some capacitor has to know."""
    authenticator: Authenticator
    policy: Policy
    clock: Clock
    ids: IdSource
    version_file: Path | None = None
    """Where the description is kept, so that its version grows."""
    max_body_size: int = MAX_BODY_SIZE
    client_address: ClientAddress = field(default_factory=ClientAddress)
    compression: bool = True
    """Whether answers are compressed for clients that accept it."""
    info: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        info = render.info(self.service, self.capacity_of, self.needs_demand)
        file = self.version_file
        version = derived_version(info) if file is None else kept_version(info, file)
        object.__setattr__(self, "info", {"version": version, **info})


class Call(web.Call[LiquidCollaborators]):
    """One request."""

    def authorize(self) -> None:
        target = {"project_id": self.params.get("project_id", "")}
        if self.rule is None or not self.deps.policy.allows(self.rule, self.identity, target):
            raise Forbidden("Forbidden")

    def body(self, model: type[Body]) -> Body:
        """The request's document. Raises `BadRequest`, and falcon's 413."""
        return read_document(self.req, model, self.deps.max_body_size)


@dataclass(frozen=True)
class LiquidApi(JsonApi[Operation, Call]):
    """JSON in, JSON out."""

    deps: LiquidCollaborators

    def call(self, req: falcon.Request, operation: Operation, params: Mapping[str, str]) -> Call:
        return Call(req, self.deps, operation.rule, params, identity_of(req))


def show_info(call: Call) -> Answer:
    """Says which resources there are."""
    return Answer(document=call.deps.info)


def report_capacity(call: Call) -> Answer:
    """Asks all capacitors."""
    body, deps = call.body(CapacityRequest), call.deps
    service = deps.service
    catalog = Catalog(body.allAZs, [service])
    demand = {(service.type, name): resource.demand() for name, resource in body.demandByResource.items()}
    capacity: dict[str, Any] = {}
    for name, backend in deps.capacity.items():
        capacity |= calls.report_capacity(backend, name, catalog, demand).services.get(service.type, {})
    report = CapacityReport({service.type: capacity})
    return Answer(document=render.capacity(service, report, body.allAZs, deps.info["version"]))


def report_usage(call: Call) -> Answer:
    """Asks the backend."""
    body, deps = call.body(UsageRequest), call.deps
    project = project_of(call.params["project_id"], body.projectMetadata)
    report = calls.report_usage(deps.backend, deps.service, project, Catalog(body.allAZs, [deps.service]))
    return Answer(document=render.usage(deps.service, report, body.allAZs, deps.info["version"]))


def set_quota(call: Call) -> Answer:
    """Has the backend enforce all quotas of a project: 204."""
    body, service = call.body(QuotaRequest), call.deps.service
    project = project_of(call.params["project_id"], body.projectMetadata)
    tracked = {name for name, resource in service.resources.items() if resource.tracks_quota}
    missing, others = sorted(tracked - set(body.resources)), sorted(set(body.resources) - tracked)
    if missing or others:
        problems = [*(f"{name}: is missing" for name in missing), *(f"{name}: has no quota here" for name in others)]
        raise Unprocessable(f"resources: {'; '.join(problems)}")
    quotas = {name: wanted.quota for name, wanted in body.resources.items()}
    calls.set_quota(call.deps.backend, service, project, quotas)
    return Answer(204)
