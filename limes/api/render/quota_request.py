"""Requests for more quota."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from limes.actions.quota_requests.read import Described
from limes.api.render.common import Json
from limes.api.shapes.common import Link
from limes.core.catalog import Catalog
from limes.db.queries.quota_requests import AmountRow, EventRow


def render_request(catalog: Catalog, described: Described) -> Json:
    """Renders a request without its conversation."""
    row = described.row
    document: Json = {
        "id": row.id,
        "status": row.status,
        "domain": {"id": row.domain_uuid, "name": row.domain_name},
        "reason": row.reason,
        "requester": _author(row.requester_id, row.requester_name),
        "created_at": int(row.created_at),
        "resources": [_amount(catalog, amount) for amount in described.amounts],
    }
    if row.project_uuid is not None:
        document["project"] = {"id": row.project_uuid, "name": row.project_name}
    if row.starts_at is not None:
        document["from"] = int(row.starts_at)
    if row.until is not None:
        document["until"] = int(row.until)
    if row.decided_at is not None:
        document["decided_at"] = int(row.decided_at)
    if row.passed_on_from is not None:
        document["passed_on_from"] = row.passed_on_from
    if described.passed_on_to is not None:
        document["passed_on_to"] = described.passed_on_to
    return document


def render_with_conversation(catalog: Catalog, described: Described) -> Json:
    """Renders a request with a part of its conversation."""
    return {
        **render_request(catalog, described),
        "conversation": [_event(event) for event in described.conversation],
    }


def older_entries(described: Described, query: Mapping[str, Any]) -> list[Link]:
    """Returns the link to what was said before, if there is more. `query` is that of the request."""
    row = described.row
    if described.first == 1:
        return []
    project = f"/projects/{row.project_uuid}" if row.project_uuid is not None else ""
    path = f"/v1/domains/{row.domain_uuid}{project}/quota-requests/{row.id}"
    return [{"rel": "next", "href": f"{path}?{urlencode({**query, 'marker': described.first}, doseq=True)}"}]


def _amount(catalog: Catalog, row: AmountRow) -> Json:
    document: Json = {"service": row.service_type, "resource": row.resource_name, "what": row.what}
    resource = catalog.find(row.ref)
    if resource is not None and resource.unit.is_measured:
        document["unit"] = resource.unit.value
    document |= {"present_quota": row.present, "wanted_quota": row.wanted}
    if row.granted is not None:
        document["granted_quota"] = row.granted
    if row.rule is not None:
        document["rule"] = row.rule
    return document


def _event(row: EventRow) -> Json:
    author = _author(row.author_id, row.author_name)
    return {"at": int(row.at), "kind": row.kind, "text": row.text, "author": author}


def _author(id_: str, name: str) -> Json:
    return {"type": "user", "id": id_, "name": name} if id_ else {"type": "job", "name": name}
