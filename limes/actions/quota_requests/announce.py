"""Tells people of requests for quota, in the transactions in which something happens to them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from limes.actions.context import Limes
from limes.actions.notifications import announce
from limes.core.catalog import Catalog
from limes.core.notifications import REQUEST_DECIDED, REQUEST_OPENED, REQUEST_PASSED_ON
from limes.core.quota_requests import EventKind
from limes.db.queries.quota_request_lists import RequestRow, by_ids
from limes.db.queries.quota_requests import AmountRow, amounts_of

_KINDS: Mapping[EventKind, str] = {
    EventKind.APPROVED: REQUEST_DECIDED,
    EventKind.PARTLY_APPROVED: REQUEST_DECIDED,
    EventKind.REJECTED: REQUEST_DECIDED,
    EventKind.EXPIRED: REQUEST_DECIDED,
    EventKind.PASSED_ON: REQUEST_PASSED_ON,
}
"""What people are told of the steps of a request. That it was opened is told by itself, as rules may approve it at
once."""
_REMEDIES = {
    REQUEST_OPENED: "Approve or reject it, or pass it on.",
    REQUEST_DECIDED: "Nothing has to be done.",
    REQUEST_PASSED_ON: "Nothing has to be done. It is approved together with the request that it was passed on as.",
}


def announce_opened(limes: Limes, request_id: int) -> None:
    """Tells those who decide that there is something to decide."""
    _tell(limes, REQUEST_OPENED, [request_id], limes.now(), {})


def announce_step(
    limes: Limes, kind: EventKind, ids: Sequence[int], at: float, text: str, passed_on_to: object
) -> None:
    """Tells of a decision, and that a request was passed on; of other steps nobody is told."""
    if kind in _KINDS:
        who = {"id": limes.initiator.id, "name": limes.initiator.name}
        _tell(limes, _KINDS[kind], ids, at, {"comment": text, "decided_by": who, "passed_on_to": passed_on_to})


def _tell(limes: Limes, kind: str, ids: Sequence[int], at: float, details: Mapping[str, Any]) -> None:
    def documents() -> Iterator[tuple[str, dict[str, Any]]]:
        for stream, document in request_documents(limes, ids):
            document["request"] |= {name: value for name, value in details.items() if value is not None}
            yield stream, document

    announce(limes, kind, _REMEDIES[kind], at, documents())


def request_documents(limes: Limes, ids: Sequence[int]) -> list[tuple[str, dict[str, Any]]]:
    """Returns requests as notifications show them, each with its stream, in the order of their numbers."""
    amounts, catalog, rows = amounts_of(limes.engine, ids), limes.catalog, by_ids(limes.engine, ids)
    return [(row.project_uuid or row.domain_uuid, _document(catalog, row, amounts[row.id])) for row in rows]


def _document(catalog: Catalog, row: RequestRow, amounts: Sequence[AmountRow]) -> dict[str, Any]:
    project = {} if row.project_uuid is None else {"project": {"id": row.project_uuid, "name": row.project_name}}
    return {
        "level": "project" if project else "domain",
        "domain": {"id": row.domain_uuid, "name": row.domain_name},
        **project,
        "request": {
            "id": row.id,
            "status": row.status,
            "reason": row.reason,
            "requester": {"id": row.requester_id, "name": row.requester_name},
            "passed_on_from": row.passed_on_from,
            **{name: int(time) for name, time in (("from", row.starts_at), ("until", row.until)) if time is not None},
            "resources": [_resource(catalog, amount) for amount in amounts],
        },
    }


def _resource(catalog: Catalog, amount: AmountRow) -> dict[str, Any]:
    return {
        "service": amount.service_type,
        "resource": amount.resource_name,
        "unit": catalog.unit_of(amount.ref).value or None,
        "present": amount.present,
        "wanted": amount.wanted,
        "granted": amount.granted,
    }
