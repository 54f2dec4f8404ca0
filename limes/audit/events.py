"""The events of all changes. Source of types, payloads and codes: the original's audit events."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from limes.audit.cadf import Event, Scope
from limes.audit.initiator import Initiator, of_job
from limes.core.catalog import Ref
from limes.core.history import QuotaStep, Reason, What
from limes.core.units import Unit

_COMMITMENT_ACTIONS = {"created": ("create", "201"), "deleted": ("delete", "204")}
_BOUNDS = {What.MAX_QUOTA: "MaxQuota", What.MIN_QUOTA: "MinQuota", What.FORBID_AUTOGROWTH: "ForbidAutogrowth"}
"""How payloads name the bounds of growth."""
_BY_ITSELF = frozenset({"confirmed", "pending", "expired"})
"""What happens to commitments by time and capacity, even if it is noticed during somebody's request."""


@dataclass(frozen=True, slots=True)
class CommitmentStep:
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
    """It was said how far quota may grow by itself."""
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
    return replace(refused, reason_code="409")


def commitment_changed(step: CommitmentStep, initiator: Initiator) -> Event:
    action, code = _COMMITMENT_ACTIONS.get(step.event, ("update", "202"))
    automatic = step.event in _BY_ITSELF
    if automatic and initiator.is_user:
        initiator = replace(of_job("commitments"), request_id=initiator.request_id)
    return Event(
        action=action,
        target_type="service/resources/commitment",
        target_id=step.uuid,
        scope=step.scope,
        payload={"event": step.event, "old": step.before, "new": None if action == "delete" else step.after},
        initiator=initiator,
        reason_type="limes" if automatic else "HTTP",
        reason_code=step.event if automatic else code,
    )


def quota_request_changed(
    scope: Scope, request_id: int, kind: str, details: Mapping[str, object], initiator: Initiator
) -> Event:
    return Event(
        action="create" if kind == "opened" else "update",
        target_type="service/resources/quota-request",
        target_id=str(request_id),
        scope=scope,
        payload={"event": kind, **details},
        initiator=initiator,
        reason_code="201" if kind == "opened" else "200",
    )


def _type(ref: Ref, what: str = "quota") -> str:
    return f"service/{ref[0]}/{ref[1]}/{what.replace('_', '-')}"


def _event(scope: Scope, type_: str, payload: Mapping[str, Any], initiator: Initiator, reason: Reason) -> Event:
    return Event(
        action="update",
        target_type=type_,
        target_id=scope.stream,
        scope=scope,
        payload={name: value for name, value in payload.items() if value is not None},
        initiator=initiator,
        reason_type="HTTP" if reason is Reason.REQUEST else "limes",
        reason_code="200" if reason is Reason.REQUEST else reason.value,
    )


def _refused(event: Event) -> Event:
    return replace(event, success=False, reason_code="422")
