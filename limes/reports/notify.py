"""Decides which notifications to send, and puts them into the outbox.

Invariant: a notification and the record that it was sent are written in one transaction, under the lock on the row of
`notification_cursor`. So each alert is notified once, however many collectors run and whenever they are killed.
Delivery may repeat a message (`deliver_events`), which has the same id then.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from limes.app.context import Limes
from limes.catalog.catalog import select
from limes.commitments import events as commitment_events
from limes.db.transactions import atomic
from limes.notifications import outbox, queries, thresholds
from limes.notifications.alerts import Kind, Severity
from limes.notifications.rules import ALERT_KINDS, CONFIRMED, OWN_THRESHOLD, RENEWED, REQUEST_WAITING, Key, decide
from limes.projects.scope import NamedResource, named_resources
from limes.quota.temporary import TemporaryState
from limes.reports import alert_queries, attention
from limes.requests import lists, store

_DAY = 86400.0
_EVENTS = 1000
_REMEDIES: Mapping[str, str] = {
    Kind.BACKEND_UNREACHABLE: "Limes tries again by itself; the backend's operators can find out why.",
    Kind.CAPACITY_DROP: "The next scrape decides: if the capacity is still there, repair the capacitor until then.",
    Kind.USAGE_ABOVE_QUOTA: "Delete something, or ask for more quota.",
    Kind.QUOTA_USED: "Ask for more quota before it is used up, or delete what is not needed.",
    Kind.AUTO_RENEWAL_FAILED: "Limes tries again until the commitment ends; renew it by hand or make another one.",
    Kind.COMMITMENT_UNCONFIRMED: "It is confirmed as soon as there is capacity. Another zone may have some now.",
    Kind.COMMITMENT_EXPIRES: "Renew it, or switch its automatic renewal on.",
    Kind.TEMPORARY_QUOTA_OVER: "Delete what is not needed any more, and Limes tries again; or ask for more quota.",
    Kind.TEMPORARY_QUOTA_WAITS: "Give quota back, or have the domain's raised: Limes tries again until its end.",
    Kind.TEMPORARY_QUOTA_ENDS: "Delete what is not needed any more, or ask for another end.",
    OWN_THRESHOLD: "Ask for more quota, delete what is not needed, or set another threshold.",
    CONFIRMED: "Nothing has to be done.",
    RENEWED: "Nothing has to be done.",
    REQUEST_WAITING: "Approve or reject it, or pass it on.",
}


@atomic
def notify(limes: Limes) -> int:
    """Writes what is new for each sink. Returns how many notifications that are."""
    last = queries.lock_cursor(limes.engine)
    now = limes.now()
    own, alerts = _looked_at(limes, now)
    number = outbox.queue_notifications(limes, now, [*alerts, *_events(limes, last)])
    return number + outbox.queue_notifications(limes, now, own, ["smtp"])


# -- alerts --------------------------------------------------------------------------------------------------------


_Messages = list[tuple[str, dict[str, Any]]]
"""Each with its stream."""


def _looked_at(limes: Limes, now: float) -> tuple[_Messages, _Messages]:
    """Returns what is new: what single users have asked for, and what is for everybody."""
    section = limes.settings.notifications
    alerts = attention.find_all_alerts(limes, section.hysteresis)
    wanted = [each for each in alerts if each.kind in ALERT_KINDS and each.kind not in section.except_kinds]
    found = {_key(alert): alert for alert in wanted if not alert.is_near}
    nearly = {_key(alert) for alert in wanted}
    present = {key: _level(alert) for key, alert in found.items()}
    asks = REQUEST_WAITING not in section.except_kinds
    waiting = lists.waiting(limes.engine, now - section.request_waiting) if asks else {}
    present |= {(REQUEST_WAITING, str(id_)): 1 for id_ in waiting}
    resources, own = _own_thresholds(limes)
    present |= {key: 1 for key, row in own.items() if row.is_above}
    nearly |= own.keys()
    decision = decide(queries.states(limes.engine), present, nearly)
    queries.change_states(limes.engine, decision.ended, decision.told)
    late = {int(subject): waiting[int(subject)] for kind, subject in decision.told if kind == REQUEST_WAITING}
    told = [_message(limes, found[key], now) for key in decision.told if key in found]
    mine = [_own_message(limes, own[key], resources[own[key].resource_id], now) for key in decision.told if key in own]
    return mine, [*told, *_late_requests(limes, late, now)]


def _own_thresholds(limes: Limes) -> tuple[Mapping[int, NamedResource], dict[Key, thresholds.ExceededRow]]:
    """Returns what exceeds a user's own threshold, or nearly does. Quota that grows by itself stays just above usage,
    so that its use says nothing."""
    section = limes.settings.notifications
    if "smtp" not in section.sinks or OWN_THRESHOLD in section.except_kinds:
        return {}, {}
    named = named_resources(limes.engine, select(limes.catalog))
    fixed = {id_: one for id_, one in named.items() if limes.catalog.autogrow(one.ref) is None}
    rows = thresholds.exceeded(limes.engine, list(fixed), section.hysteresis)
    return fixed, {
        (OWN_THRESHOLD, "/".join((row.user_id, row.project.uuid, *fixed[row.resource_id].ref))): row
        for row in rows
        if row.is_near(section.hysteresis)
    }


def _own_message(
    limes: Limes, row: thresholds.ExceededRow, resource: NamedResource, now: float
) -> tuple[str, dict[str, Any]]:
    (service, name), place = resource.ref, row.project
    document = {
        "domain": {"id": place.domain_uuid, "name": place.domain_name},
        "project": {"id": place.uuid, "name": place.name},
        **_given({"service": service, "resource": name, "unit": resource.unit.value or None}),
        **{"quota": row.quota, "usage": row.usage, "threshold": row.percent, "user": {"id": row.user_id}},
    }
    # in a stream of its own: it waits for what Keystone says of this user
    return row.user_id, outbox.message(limes, OWN_THRESHOLD, _REMEDIES[OWN_THRESHOLD], now, document)


def _late_requests(limes: Limes, since: Mapping[int, float], now: float) -> Iterator[tuple[str, dict[str, Any]]]:
    for stream, document in store.request_documents(limes, sorted(since)):
        at = since[document["request"]["id"]]
        details = {**document, "since": int(at), "days": int((now - at) // _DAY)}
        yield stream, outbox.message(limes, REQUEST_WAITING, _REMEDIES[REQUEST_WAITING], now, details)


def _message(limes: Limes, alert: attention.Alert, now: float) -> tuple[str, dict[str, Any]]:
    project, commitment, used = alert.project, alert.commitment, alert.used
    details: dict[str, Any] = {"service": alert.service}
    if alert.resource is not None:
        details |= {"resource": alert.resource.ref[1], "unit": alert.resource.unit.value or None}
    if used is not None:
        details |= {"quota": used.quota, "usage": used.usage, "threshold": alert.threshold}
    if commitment is not None:
        row = commitment.commitment
        details["commitment"] = {
            "id": row.id,
            "uuid": row.uuid,
            "availability_zone": row.az,
            "amount": row.amount,
            "duration": row.duration,
            "expires_at": int(row.expires_at),
            "auto_renew_error": commitment.renewal_error or None,
        }
    if alert.temporary is not None:
        details |= _temporary(alert.temporary)
    if alert.capacitor:
        details["capacitor"] = alert.capacitor
    if alert.since is not None:
        details["since"] = int(alert.since)
    place = project or (alert.temporary.place if alert.temporary is not None else None)
    about = {} if place is None else {"domain": {"id": place.domain_uuid, "name": place.domain_name}}
    if project is not None:
        about["project"] = {"id": project.uuid, "name": project.name}
    stream = alert.service if place is None else place.uuid or place.domain_uuid
    document = {**about, **_given(details)}
    return stream, outbox.message(limes, alert.kind, _REMEDIES[alert.kind], now, document, alert.severity)


# -- events of commitments -----------------------------------------------------------------------------------------


def _events(limes: Limes, last: int | None) -> Iterator[tuple[str, dict[str, Any]]]:
    if last is None:  # what was before the first look is not notified
        queries.move_cursor(limes.engine, commitment_events.last_number(limes.engine))
        return
    events = commitment_events.after(limes.engine, last, _EVENTS)
    if not events:
        return
    queries.move_cursor(limes.engine, events[-1].number)
    documents = [(event, orjson.loads(event.document)) for event in events]
    doubtful = [document for event, document in documents if _may_be_renewal(event.event, document)]
    replacing = commitment_events.replacing(limes.engine, {uuid for each in doubtful for uuid in each["related"]})
    for event, document in documents:
        is_renewal = _may_be_renewal(event.event, document) and document["uuid"] not in replacing
        kind = CONFIRMED if event.event == "confirmed" else RENEWED if is_renewal else None
        if kind is None or kind in limes.settings.notifications.except_kinds:
            continue
        details = {"domain": {"id": document["domain_id"]}, "project": {"id": document["project_id"]}}
        details |= {"service": document["service_type"], "resource": document["resource_name"]}
        names = ("id", "uuid", "availability_zone", "amount", "unit", "duration", "confirm_by", "expires_at")
        details["commitment"] = {name: document[name] for name in names if name in document}
        yield document["project_id"], outbox.message(limes, kind, _REMEDIES[kind], event.at, details)


def _may_be_renewal(event: str, document: Mapping[str, Any]) -> bool:
    """Returns whether a commitment was made of others, and renews itself: or else it takes their place."""
    return event == "created" and bool(document.get("related")) and bool(document.get("auto_renew"))


def _key(alert: attention.Alert) -> Key:
    if alert.commitment is not None:
        return alert.kind.value, alert.commitment.commitment.uuid
    if alert.temporary is not None and alert.resource is not None:
        place = alert.temporary.place
        return alert.kind.value, "/".join((place.uuid or place.domain_uuid, *alert.resource.ref))
    if alert.project is not None and alert.resource is not None:
        # usage above the quota is the last step of what begins near it
        return Kind.QUOTA_USED.value, "/".join((alert.project.uuid, *alert.resource.ref))
    return alert.kind.value, "/".join(alert.resource.ref) if alert.resource is not None else alert.service


def _level(alert: attention.Alert) -> int:
    if alert.kind is Kind.USAGE_ABOVE_QUOTA:
        return 3
    return 2 if alert.severity is Severity.CRITICAL else 1


def _temporary(row: alert_queries.TemporaryAlertRow) -> dict[str, Any]:
    temporary, before = row.temporary, row.temporary.before
    is_over = temporary.state == TemporaryState.OVER.value and before is not None
    term = {
        "quota": temporary.quota,
        "from": int(temporary.starts_at),
        "until": int(temporary.until),
        "quota_before": before,
        "over_by": max(0, row.present - (before or 0)) if is_over else None,
        "problem": temporary.problem or None,
    }
    return {"quota": row.present, "temporary_quota": _given(term)}


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
