"""The operations of the LIQUID protocol, for one service, and the version of its description."""

import hashlib
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import falcon
import orjson
from msgspec import Struct, field, structs

from limes.app.liquid import bodies, render
from limes.auth.context import Authenticator
from limes.auth.policy import Policy
from limes.backends import CapacityBackend, CapacityReport, QuotaBackend, ServiceDef, calls
from limes.catalog.catalog import Catalog
from limes.kernel.errors import Forbidden, StartupError, Unprocessable
from limes.kernel.system import Clock, IdSource
from limes.web import call as web
from limes.web import middleware
from limes.web.call import Answer, Body, identity_of, read_document
from limes.web.operation import JsonApi, Operation

MAX_BODY_SIZE = 1024 * 1024


def derived_version(document: Mapping[str, Any]) -> int:
    """Returns a version that needs no file: the same in each process, different for each document, but not growing."""
    digest = hashlib.sha256(orjson.dumps(document, option=orjson.OPT_SORT_KEYS)).digest()
    return int.from_bytes(digest[:6]) + 1


def kept_version(document: Mapping[str, Any], file: Path) -> int:
    """1 for the first document, and one more for each that differs from the previous one, which the file has. Processes
    that start at the same time agree, because they read the same file. Raises `StartupError` if the file cannot be
    used."""
    try:
        before = _read(file)
        if before.get("info") == document:
            return int(before["version"])
        version = int(before.get("version", 0)) + 1
        draft = file.with_name(f"{file.name}.{os.getpid()}.{threading.get_ident()}")
        draft.write_bytes(orjson.dumps({"version": version, "info": document}, option=orjson.OPT_INDENT_2))
        draft.replace(file)
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "expected what `limes liquid` has written there"
        raise StartupError(f"liquid.version_folder: {file}: {reason}") from None
    return version


def _read(file: Path) -> dict[str, Any]:
    try:
        stored = orjson.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    if not isinstance(stored, dict):
        raise ValueError("not an object")
    return stored


class LiquidCollaborators(Struct, frozen=True):
    service: ServiceDef
    backend: QuotaBackend
    capacity: Mapping[str, CapacityBackend]
    """By the capacitor's id; each may report on this service, and on others."""
    capacity_of: frozenset[str]
    needs_demand: frozenset[str]
    authenticator: Authenticator
    policy: Policy
    clock: Clock
    ids: IdSource
    version_file: Path | None = None
    """Where the description is kept, so that its version grows."""
    client_address: middleware.ClientAddress = field(default_factory=middleware.ClientAddress)
    compression: bool = True
    """Whether answers are compressed for clients that accept it."""
    info: Mapping[str, Any] = field(default_factory=dict)
    """Derived from the rest."""

    def __post_init__(self) -> None:
        info = render.info(self.service, self.capacity_of, self.needs_demand)
        file = self.version_file
        version = derived_version(info) if file is None else kept_version(info, file)
        structs.force_setattr(self, "info", {"version": version, **info})


class Call(web.Call[LiquidCollaborators]):
    def authorize(self) -> None:
        target = {"project_id": self.params.get("project_id", "")}
        if self.rule is None or not self.deps.policy.allows(self.rule, self.identity, target):
            raise Forbidden("Forbidden")

    def body(self, model: type[Body]) -> Body:
        return read_document(self.req, model, MAX_BODY_SIZE)


class LiquidApi(JsonApi[Operation, Call]):
    def __init__(self, deps: LiquidCollaborators) -> None:
        self._deps = deps

    def call(self, req: falcon.Request, operation: Operation, params: Mapping[str, str]) -> Call:
        return Call(req, self._deps, operation.rule, params, identity_of(req))


def show_info(call: Call) -> Answer:
    """Says which resources there are."""
    return Answer(document=call.deps.info)


def report_capacity(call: Call) -> Answer:
    """Asks all capacitors."""
    body, deps = call.body(bodies.CapacityRequest), call.deps
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
    body, deps = call.body(bodies.UsageRequest), call.deps
    project = bodies.project_of(call.params["project_id"], body.projectMetadata)
    report = calls.report_usage(deps.backend, deps.service, project, Catalog(body.allAZs, [deps.service]))
    return Answer(document=render.usage(deps.service, report, body.allAZs, deps.info["version"]))


def set_quota(call: Call) -> Answer:
    """Has the backend enforce all quotas of a project: 204."""
    body, service = call.body(bodies.QuotaRequest), call.deps.service
    project = bodies.project_of(call.params["project_id"], body.projectMetadata)
    tracked = {name for name, resource in service.resources.items() if resource.tracks_quota}
    missing, others = sorted(tracked - set(body.resources)), sorted(set(body.resources) - tracked)
    if missing or others:
        problems = [*(f"{name}: is missing" for name in missing), *(f"{name}: has no quota here" for name in others)]
        raise Unprocessable(f"resources: {'; '.join(problems)}")
    quotas = {name: wanted.quota for name, wanted in body.resources.items()}
    calls.set_quota(call.deps.backend, service, project, quotas)
    return Answer(204)
