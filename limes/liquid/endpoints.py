"""The routes of the LIQUID protocol, for one service."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import falcon

from limes.api.bodies import parse_body, read_json
from limes.auth.context import Authenticator
from limes.auth.policy import Policy
from limes.backends import CapacityBackend, CapacityReport, QuotaBackend, ServiceDef, calls
from limes.core.catalog import Catalog
from limes.errors import Forbidden, Unprocessable
from limes.liquid import render
from limes.liquid.bodies import CapacityRequest, QuotaRequest, UsageRequest, project_of
from limes.liquid.version import derived_version, kept_version
from limes.system import Clock, IdSource
from limes.web.client_address import ClientAddress
from limes.web.json import dump

MAX_BODY_SIZE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class LiquidCollaborators:
    """What the app works with."""

    service: ServiceDef
    backend: QuotaBackend
    capacity: Mapping[str, CapacityBackend]
    """By the capacitor's id; each may report on this service, and on others."""
    capacity_of: frozenset[str]
    """The resources of which some capacitor knows the capacity."""
    needs_demand: frozenset[str]
    """The resources of which some capacitor has to know the demand."""
    authenticator: Authenticator
    policy: Policy
    clock: Clock
    ids: IdSource
    version_file: Path | None = None
    """Where the description is kept, so that its version grows."""
    max_body_size: int = MAX_BODY_SIZE
    client_address: ClientAddress = field(default_factory=ClientAddress)
    info: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        info = render.info(self.service, self.capacity_of, self.needs_demand)
        file = self.version_file
        version = derived_version(info) if file is None else kept_version(info, file)
        object.__setattr__(self, "info", {"version": version, **info})


class _Endpoint:
    def __init__(self, deps: LiquidCollaborators) -> None:
        self._deps = deps

    def _require(self, req: falcon.Request, rule: str, project_id: str = "") -> None:
        if not self._deps.policy.allows(rule, req.context.identity, {"project_id": project_id}):
            raise Forbidden("Forbidden")

    def _read(self, req: falcon.Request) -> Any:
        return read_json(req, self._deps.max_body_size)

    def _answer(self, resp: falcon.Response, document: Any) -> None:
        resp.content_type = falcon.MEDIA_JSON
        resp.data = dump(document)


class InfoEndpoint(_Endpoint):
    """`/v1/info`."""

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Says what there is."""
        self._require(req, "liquid:get_info")
        self._answer(resp, self._deps.info)


class CapacityEndpoint(_Endpoint):
    """`/v1/report-capacity`."""

    def on_post(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Asks all capacitors."""
        self._require(req, "liquid:get_capacity")
        body = parse_body(CapacityRequest, self._read(req))
        deps = self._deps
        catalog = Catalog(body.allAZs, [deps.service])
        found: dict[str, Any] = {}
        demand = {(deps.service.type, name): one.demand() for name, one in body.demandByResource.items()}
        for name, backend in deps.capacity.items():
            found |= calls.report_capacity(backend, name, catalog, demand).services.get(deps.service.type, {})
        report = CapacityReport({deps.service.type: found})
        self._answer(resp, render.capacity(deps.service, report, body.allAZs, deps.info["version"]))


class UsageEndpoint(_Endpoint):
    """`/v1/projects/{project_id}/report-usage`."""

    def on_post(self, req: falcon.Request, resp: falcon.Response, project_id: str) -> None:
        """Asks the backend."""
        self._require(req, "liquid:get_usage", project_id)
        body = parse_body(UsageRequest, self._read(req))
        project = project_of(project_id, body.projectMetadata)
        deps = self._deps
        report = calls.report_usage(deps.backend, deps.service, project, Catalog(body.allAZs, [deps.service]))
        self._answer(resp, render.usage(deps.service, report, body.allAZs, deps.info["version"]))


class QuotaEndpoint(_Endpoint):
    """`/v1/projects/{project_id}/quota`."""

    def on_put(self, req: falcon.Request, resp: falcon.Response, project_id: str) -> None:
        """Has the backend enforce all of them: 204."""
        self._require(req, "liquid:set_quota", project_id)
        body = parse_body(QuotaRequest, self._read(req))
        project = project_of(project_id, body.projectMetadata)
        service = self._deps.service
        tracked = {name for name, resource in service.resources.items() if resource.tracks_quota}
        missing, others = sorted(tracked - set(body.resources)), sorted(set(body.resources) - tracked)
        if missing or others:
            what = [*(f"{name}: is missing" for name in missing), *(f"{name}: has no quota here" for name in others)]
            raise Unprocessable(f"resources: {'; '.join(what)}")
        quotas = {name: wanted.quota for name, wanted in body.resources.items()}
        calls.set_quota(self._deps.backend, service, project, quotas)
        resp.status = falcon.HTTP_204
