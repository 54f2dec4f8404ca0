"""Requests for more quota."""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlencode

import msgspec

from limes.actions.quota_requests.read import Described
from limes.api.render.common import seconds, unit_of
from limes.api.render.quota import initiator
from limes.api.shapes import quota_request as shapes
from limes.api.shapes.common import Link, Named
from limes.core.catalog import Catalog
from limes.core.quota_requests import EventKind, RequestStatus
from limes.db.queries.quota_requests import AmountRow, EventRow


def render_request(catalog: Catalog, described: Described) -> shapes.QuotaRequest:
    """Renders a request without its conversation."""
    row = described.row
    project: Named | None = None
    if row.project_uuid is not None:
        project = {"id": row.project_uuid, "name": row.project_name or ""}
    return shapes.QuotaRequest(
        id=row.id,
        status=RequestStatus(row.status),
        domain={"id": row.domain_uuid, "name": row.domain_name},
        reason=row.reason,
        requester=initiator(row.requester_id, row.requester_name),
        created_at=int(row.created_at),
        resources=[_amount(catalog, amount) for amount in described.amounts],
        project=project,
        starts_at=seconds(row.starts_at),
        until=seconds(row.until),
        decided_at=seconds(row.decided_at),
        passed_on_from=row.passed_on_from,
        passed_on_to=described.passed_on_to,
    )


def render_with_conversation(catalog: Catalog, described: Described) -> shapes.QuotaRequestWithConversation:
    """Renders a request with a part of its conversation."""
    request = msgspec.structs.asdict(render_request(catalog, described))
    return shapes.QuotaRequestWithConversation(**request, conversation=list(map(_event, described.conversation)))


def older_entries(described: Described, query: Mapping[str, Any]) -> list[Link]:
    """Returns the link to what was said before, if there is more. `query` is that of the request."""
    row = described.row
    if described.first == 1:
        return []
    project = f"/projects/{row.project_uuid}" if row.project_uuid is not None else ""
    path = f"/v1/domains/{row.domain_uuid}{project}/quota-requests/{row.id}"
    return [{"rel": "next", "href": f"{path}?{urlencode({**query, 'marker': described.first}, doseq=True)}"}]


def _amount(catalog: Catalog, row: AmountRow) -> shapes.WantedQuota:
    return shapes.WantedQuota(
        service=row.service_type,
        resource=row.resource_name,
        what=cast(shapes.WantedKind, row.what),
        unit=unit_of(catalog, row.ref),
        present_quota=row.present,
        wanted_quota=row.wanted,
        granted_quota=row.granted,
        rule=row.rule,
    )


def _event(row: EventRow) -> shapes.RequestEvent:
    author = initiator(row.author_id, row.author_name)
    return shapes.RequestEvent(at=int(row.at), kind=EventKind(row.kind), text=row.text, author=author)
