"""Answers about requests for more quota."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar, cast
from urllib.parse import urlencode

from msgspec import field
from pydantic import Field

from limes.api import policy
from limes.api.answers import Initiator, Link, Named, initiator, unit_of
from limes.catalog.catalog import Catalog
from limes.kernel.validation.shape import Amount, Shape, Time, Unit, seconds
from limes.requests import rules, store

RequestNumber = Annotated[int, Field(ge=1)]
WantedKind = Literal["quota", "max_quota", "min_quota"]
_WHAT = "where quota grows by itself: `max_quota` if that limits it, else `min_quota`, which is granted"


class WantedQuota(Shape):
    """What is asked for of one resource."""

    service: str
    resource: str
    what: Annotated[WantedKind, Field(description=_WHAT)]
    unit: Unit | None = None
    present_quota: Annotated[int, Field(ge=0, description="when it was asked for")]
    wanted_quota: Amount
    granted_quota: Annotated[int, Field(ge=0, description="by an approval")] | None = None
    rule: Annotated[str, Field(description="the rule of the configuration that has approved it")] | None = None


class QuotaRequest(Shape):
    """A request for more quota of a project or of a domain."""

    id: RequestNumber
    status: rules.RequestStatus
    domain: Named
    reason: str
    requester: Initiator
    created_at: Time
    resources: list[WantedQuota]
    project: Named | None = None
    starts_at: Annotated[Time, Field(description="when the quota is wanted, if not at once")] | None = field(
        default=None, name="from"
    )
    until: Annotated[Time, Field(description="until when; missing if it is wanted permanently")] | None = None
    decided_at: Annotated[Time, Field(description="when it got its final status")] | None = None
    passed_on_from: Annotated[RequestNumber, Field(description="the project's, that waits for this one")] | None = None
    passed_on_to: Annotated[RequestNumber, Field(description="the domain's, that this one waits for")] | None = None


class RequestEvent(Shape, kw_only=False):
    """Something that was said or decided."""

    at: Time
    kind: rules.EventKind
    text: str
    author: Initiator


_R = TypeVar("_R", bound=QuotaRequest)


class QuotaRequestWithConversation(QuotaRequest):
    """The same, and what was said and decided about it, the oldest first; of a long conversation the latest part."""

    conversation: list[RequestEvent]


class QuotaRequestAnswer(Shape):
    """One request, and a link to what was said before the entries that are here, if there is more."""

    quota_request: QuotaRequestWithConversation
    conversation_links: list[Link]
    conversation_total: Annotated[int, Field(ge=0, description="how many entries the conversation has")]
    warnings: list[str] = []


class DecidersAnswer(Shape):
    """Who can decide: some users by name, and the roles of which they have one."""

    deciders: list[Named]
    level: Annotated[policy.Level, Field(description="where they have such a role; `cluster`: anywhere")]
    more: Annotated[int, Field(ge=0, description="how many others there are")]
    roles: Annotated[list[str], Field(description="of which one is enough; empty if none is by itself")]
    problem: Annotated[str, Field(description="why nobody is named, if Keystone could not be asked")] | None = None


class QuotaRequestsAnswer(Shape):
    """Requests, the newest first, and a link to older ones if there may be more."""

    quota_requests: list[QuotaRequest]
    quota_request_links: list[Link]
    total: Annotated[int, Field(ge=0, description="how many there are, on all pages")]


def render_request(catalog: Catalog, described: store.RequestView) -> QuotaRequest:
    return _render(QuotaRequest, catalog, described)


def render_with_conversation(catalog: Catalog, described: store.RequestView) -> QuotaRequestWithConversation:
    conversation = [
        RequestEvent(int(row.at), rules.EventKind(row.kind), row.text, initiator(row.author_id, row.author_name))
        for row in described.conversation
    ]
    return _render(QuotaRequestWithConversation, catalog, described, conversation=conversation)


def _render(kind: type[_R], catalog: Catalog, described: store.RequestView, **others: Any) -> _R:
    row = described.row
    resources = [
        WantedQuota(
            service=amount.service_type,
            resource=amount.resource_name,
            what=cast("WantedKind", amount.what),
            unit=unit_of(catalog, amount.ref),
            present_quota=amount.present,
            wanted_quota=amount.wanted,
            granted_quota=amount.granted,
            rule=amount.rule,
        )
        for amount in described.amounts
    ]
    return kind(
        id=row.id,
        status=rules.RequestStatus(row.status),
        domain=Named(row.domain_uuid, row.domain_name),
        reason=row.reason,
        requester=initiator(row.requester_id, row.requester_name),
        created_at=int(row.created_at),
        resources=resources,
        project=None if row.project_uuid is None else Named(row.project_uuid, row.project_name or ""),
        starts_at=seconds(row.starts_at),
        until=seconds(row.until),
        decided_at=seconds(row.decided_at),
        passed_on_from=row.passed_on_from,
        passed_on_to=described.passed_on_to,
        **others,
    )


def older_entries(described: store.RequestView, query: Mapping[str, Any]) -> list[Link]:
    """Returns the link to what was said before, if there is more. `query` is that of the request."""
    row = described.row
    if described.first == 1:
        return []
    project = f"/projects/{row.project_uuid}" if row.project_uuid is not None else ""
    path = f"/v1/domains/{row.domain_uuid}{project}/quota-requests/{row.id}"
    return [Link(rel="next", href=f"{path}?{urlencode({**query, 'marker': described.first}, doseq=True)}")]
