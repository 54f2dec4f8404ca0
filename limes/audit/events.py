"""The audit: who changes things, and the events about it in the form of CADF, the DMTF's Cloud Auditing Data Federation
(DSP0262), as Limes' clients know them. Source of types, payloads and codes: the original's audit events.
"""

import enum
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
from msgspec import Struct, structs

from limes.catalog.catalog import Ref
from limes.kernel.units import Unit


class What(enum.StrEnum):
    QUOTA = "quota"
    BACKEND_QUOTA = "backend_quota"
    """What the backend enforces was put right, while the quota did not change."""
    BURSTING = "bursting"
    """Of the whole project: 1 for on, 0 for off."""
    MAX_QUOTA = "max_quota"
    MIN_QUOTA = "min_quota"
    """How far quota may grow by itself."""
    FORBID_AUTOGROWTH = "forbid_autogrowth"
    """Whether it may grow by itself beyond what is needed: 1 for not, 0 for yes."""
    OVERRIDE = "override"
    """What the operator's file pins the quota to."""


class Reason(enum.StrEnum):
    """Why it was changed. Limes does all but the first by itself."""

    REQUEST = "request"
    """A user asked for it."""
    AUTO_APPROVAL = "auto-approval"
    """The first scrape found the quota that the backend gives to every new project."""
    CONSTRAINT = "constraint"
    """An operator's constraint demands it."""
    BACKEND_DRIFT = "backend-drift"
    """The backend enforced something else."""
    AUTOGROW = "autogrow"
    """It follows usage and commitments."""
    TEMPORARY_QUOTA = "temporary-quota"
    """A quota for a time has started or ended."""
    DISTRIBUTION_MODEL = "distribution-model"
    """The operator has changed how quota of the resource is distributed."""
    OVERRIDE = "override"
    """The operator has changed the file of overrides."""
    VANISHED = "vanished"
    """The project or domain is gone from Keystone."""


class QuotaStep(Struct, frozen=True):
    """A change of one number of one resource, in its unit."""

    ref: Ref
    unit: Unit
    old: int | None
    """None where there was no number before."""
    new: int | None
    """None where there is no number any more."""
    reason: Reason = Reason.REQUEST
    detail: str = ""
    """More about the reason, for people: `exactly 5 GiB`."""
    what: What = What.QUOTA


class Initiator(Struct, frozen=True):
    """Who makes a change: a user with what the token says of them, or a job of ours. Nothing of the token itself."""

    name: str
    """Of a job: its name in the logs."""
    id: str = ""
    """The user's id. Empty for a job."""
    user_domain: str = ""
    """Name of the domain that the user belongs to."""
    project_id: str = ""
    """The scope of the token, as the next three."""
    project_name: str = ""
    domain_id: str = ""
    domain_name: str = ""
    application_credential_id: str = ""
    address: str = ""
    """The host that the request came from."""
    agent: str = ""
    """The client's `User-Agent`."""
    request_id: str = ""
    global_request_id: str = ""
    """The global request id that the client sent, if any."""
    path: str = ""
    """Of the request, without its query, which may hold secrets."""

    @property
    def is_user(self) -> bool:
        return bool(self.id)


def of_job(name: str) -> Initiator:
    return Initiator(name, request_id=f"job-{name}")


LIMES = of_job("limes")
"""Limes itself, outside of any job: a command at a terminal, for example."""


class Scope(Struct, frozen=True):
    """The domain, or the project in it, that an event is about."""

    domain_uuid: str
    domain_name: str
    project_uuid: str = ""
    project_name: str = ""

    @property
    def stream(self) -> str:
        """The stream in which events are delivered in order: of a project, or of a domain's own quotas."""
        return self.project_uuid or self.domain_uuid


class Event(Struct, frozen=True):
    """What happened to what, by whom."""

    action: str
    """`create`, `update` or `delete`."""
    target_type: str
    """A path in CADF's taxonomy of resources, such as `service/compute/cores/quota`."""
    target_id: str
    scope: Scope
    payload: Mapping[str, Any]
    """Old and new values. Never a secret."""
    initiator: Initiator
    success: bool = True
    reason_type: str = "HTTP"
    """Or `limes`, for what Limes does by itself."""
    reason_code: str = "200"


def render(event: Event, event_id: str, at: float, observer_id: str) -> str:
    """Returns the event as JSON. `at` is in seconds since the epoch; `observer_id` names this process."""
    scope = event.scope
    content = orjson.dumps(event.payload).decode()  # CADF wants the content as a string
    document = {
        "typeURI": "http://schemas.dmtf.org/cloud/audit/1.0/event",
        "id": event_id,
        "eventTime": datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds"),
        "eventType": "activity",
        "action": event.action,
        "outcome": "success" if event.success else "failure",
        "reason": {"reasonType": event.reason_type, "reasonCode": event.reason_code},
        "initiator": _initiator(event.initiator),
        "target": _without_empty(
            {
                "typeURI": event.target_type,
                "id": event.target_id,
                "domain_id": scope.domain_uuid,
                "domain_name": scope.domain_name,
                "project_id": scope.project_uuid,
                "project_name": scope.project_name,
                "attachments": [{"name": "payload", "typeURI": "mime:application/json", "content": content}],
            }
        ),
        "observer": {"typeURI": "service/resources", "name": "limes", "id": observer_id},
    }
    if event.initiator.path:
        document["requestPath"] = event.initiator.path
    return orjson.dumps(document).decode()


def _initiator(initiator: Initiator) -> dict[str, Any]:
    if not initiator.is_user:
        return {
            "typeURI": "service/resources/job",
            "id": f"limes-job-{initiator.name}",
            "name": initiator.name,
            "request_id": initiator.request_id,
        }
    host = {"address": initiator.address, "agent": initiator.agent}
    known = {
        "typeURI": "service/security/account/user",
        "id": initiator.id,
        "name": initiator.name,
        "domain": initiator.user_domain,
        "domain_id": initiator.domain_id,
        "domain_name": initiator.domain_name,
        "project_id": initiator.project_id,
        "project_name": initiator.project_name,
        "application_credential_id": initiator.application_credential_id,
        "host": _without_empty(host),
        "request_id": initiator.request_id,
        "global_request_id": initiator.global_request_id,
    }
    return _without_empty(known)


def _without_empty(known: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in known.items() if value}


# -- the events of all changes -----------------------------------------------------------------------------------------

_COMMITMENT_ACTIONS = {"created": ("create", "201"), "deleted": ("delete", "204")}
_BOUNDS = {What.MAX_QUOTA: "MaxQuota", What.MIN_QUOTA: "MinQuota", What.FORBID_AUTOGROWTH: "ForbidAutogrowth"}
"""How payloads name the bounds of growth."""
BY_ITSELF = frozenset({"confirmed", "pending", "expired"})
"""What happens to commitments by time and capacity, even if it is noticed during a user's request."""


class CommitmentStep(Struct, frozen=True):
    """What happened to a commitment: the event's name, and its documents before and after, without tokens."""

    event: str
    uuid: str
    scope: Scope
    before: Mapping[str, Any] | None
    after: Mapping[str, Any]


def quota_changed(scope: Scope, step: QuotaStep, initiator: Initiator) -> Event:
    payload: dict[str, Any] = {"oldQuota": step.old, "newQuota": step.new, "unit": step.unit.value or None}
    if step.reason is not Reason.REQUEST:
        payload["reason"] = step.reason.value
    payload["detail"] = step.detail or None
    return _event(scope, _type(step.ref), payload, initiator, step.reason)


def quota_refused(
    scope: Scope, ref: Ref, unit: Unit, old: int | None, new: int | None, message: str, initiator: Initiator
) -> Event:
    """A requested quota was refused. `new` is None if the request was not an amount in the resource's unit."""
    payload = {"oldQuota": old, "newQuota": new, "unit": unit.value or None, "rejectReason": message}
    return _refused(_event(scope, _type(ref), payload, initiator, Reason.REQUEST))


def bound_changed(scope: Scope, step: QuotaStep, initiator: Initiator) -> Event:
    name, is_switch = _BOUNDS[step.what], step.what is What.FORBID_AUTOGROWTH
    old, new = (bool(value) if is_switch else value for value in (step.old, step.new))
    payload = {f"old{name}": old, f"new{name}": new, "unit": None if is_switch else step.unit.value or None}
    if step.detail:
        payload["detail"] = step.detail
    return _event(scope, _type(step.ref, step.what.value), payload, initiator, Reason.REQUEST)


def bound_refused(scope: Scope, ref: Ref, what: What, message: str, initiator: Initiator) -> Event:
    return _refused(_event(scope, _type(ref, what.value), {"rejectReason": message}, initiator, Reason.REQUEST))


def bursting_changed(scope: Scope, enabled: bool, initiator: Initiator) -> Event:
    payload = {"oldStatus": not enabled, "newStatus": enabled}
    return _event(scope, "service/resources/bursting", payload, initiator, Reason.REQUEST)


def bursting_refused(scope: Scope, enabled: bool, message: str, initiator: Initiator) -> Event:
    payload = {"newStatus": enabled, "rejectReason": message}
    refused = _refused(_event(scope, "service/resources/bursting", payload, initiator, Reason.REQUEST))
    return structs.replace(refused, reason_code="409")


def initiator_of(event: str, initiator: Initiator) -> Initiator:
    """Returns who has caused an event of a commitment: not the user during whose request time or capacity did."""
    if event in BY_ITSELF and initiator.is_user:
        return structs.replace(of_job("commitments"), request_id=initiator.request_id)
    return initiator


def commitment_changed(step: CommitmentStep, initiator: Initiator) -> Event:
    action, code = _COMMITMENT_ACTIONS.get(step.event, ("update", "202"))
    automatic = step.event in BY_ITSELF
    initiator = initiator_of(step.event, initiator)
    payload = {"event": step.event, "old": step.before, "new": None if action == "delete" else step.after}
    event = Event(action, "service/resources/commitment", step.uuid, step.scope, payload, initiator, reason_code=code)
    return structs.replace(event, reason_type="limes", reason_code=step.event) if automatic else event


def quota_request_changed(
    scope: Scope, request_id: int, kind: str, details: Mapping[str, object], initiator: Initiator
) -> Event:
    action, code = ("create", "201") if kind in ("opened", "proposed") else ("update", "200")
    payload = {"event": kind, **details}
    target = "service/resources/quota-request"
    return Event(action, target, str(request_id), scope, payload, initiator, reason_code=code)


def _type(ref: Ref, what: str = "quota") -> str:
    return f"service/{ref[0]}/{ref[1]}/{what.replace('_', '-')}"


def _event(scope: Scope, type_: str, payload: Mapping[str, Any], initiator: Initiator, reason: Reason) -> Event:
    known = {name: value for name, value in payload.items() if value is not None}
    event = Event("update", type_, scope.stream, scope, known, initiator)
    return event if reason is Reason.REQUEST else structs.replace(event, reason_type="limes", reason_code=reason.value)


def _refused(event: Event) -> Event:
    return structs.replace(event, success=False, reason_code="422")
