"""Answers about requests for more quota."""

from typing import Annotated, Literal

import msgspec
from pydantic import Field

from limes.api.shapes.common import Amount, Link, Named, Time, Unit
from limes.api.shapes.quota import Initiator
from limes.api.shapes.shape import Shape
from limes.core.quota_requests import EventKind, RequestStatus

RequestNumber = Annotated[int, Field(ge=1)]
WantedKind = Literal["quota", "max_quota", "min_quota"]


class WantedQuota(Shape):
    """What is asked for of one resource."""

    service: str
    resource: str
    what: Annotated[
        WantedKind,
        Field(
            description="where quota grows by itself: `max_quota` if that limits it, else `min_quota`, which is granted"
        ),
    ]
    unit: Unit | None = None
    present_quota: Annotated[int, Field(ge=0, description="when it was asked for")]
    wanted_quota: Amount
    granted_quota: Annotated[int, Field(ge=0, description="by an approval")] | None = None
    rule: Annotated[str, Field(description="the rule of the configuration that has approved it")] | None = None


class QuotaRequest(Shape):
    """A request for more quota of a project or of a domain."""

    id: RequestNumber
    status: RequestStatus
    domain: Named
    reason: str
    requester: Initiator
    created_at: Time
    resources: list[WantedQuota]
    project: Named | None = None
    starts_at: Annotated[Time, Field(description="when the quota is wanted, if not at once")] | None = msgspec.field(
        default=None, name="from"
    )
    until: Annotated[Time, Field(description="until when; missing if it is wanted for good")] | None = None
    decided_at: Annotated[Time, Field(description="when it got its final status")] | None = None
    passed_on_from: Annotated[RequestNumber, Field(description="the project's, that waits for this one")] | None = None
    passed_on_to: Annotated[RequestNumber, Field(description="the domain's, that this one waits for")] | None = None


class RequestEvent(Shape):
    """Something that was said or decided."""

    at: Time
    kind: EventKind
    text: str
    author: Initiator


class QuotaRequestWithConversation(QuotaRequest):
    """The same, and what was said and decided about it, the oldest first; of a long conversation the latest part."""

    conversation: list[RequestEvent]


class QuotaRequestAnswer(Shape):
    """One request, and a link to what was said before the entries that are here, if there is more."""

    quota_request: QuotaRequestWithConversation
    conversation_links: list[Link]
    conversation_total: Annotated[int, Field(ge=0, description="how many entries the conversation has")]
    warnings: list[str] = []


class QuotaRequestsAnswer(Shape):
    """Requests, the newest first, and a link to older ones if there may be more."""

    quota_requests: list[QuotaRequest]
    quota_request_links: list[Link]
    total: Annotated[int, Field(ge=0, description="how many there are, on all pages")]
