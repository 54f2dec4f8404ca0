"""Answers about requests for more quota."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from limes.api.shapes.common import Amount, Link, Named, Time, Unit, Warned
from limes.api.shapes.quota import Initiator
from limes.core.quota_requests import EventKind, RequestStatus

RequestNumber = Annotated[int, Field(ge=1)]


class WantedQuota(TypedDict):
    """What is asked for of one resource."""

    service: str
    resource: str
    unit: NotRequired[Unit]
    what: Annotated[
        Literal["quota", "max_quota", "min_quota"],
        Field(
            description="where quota grows by itself: `max_quota` if that limits it, else `min_quota`, which is granted"
        ),
    ]
    present_quota: Annotated[int, Field(ge=0, description="when it was asked for")]
    wanted_quota: Amount
    granted_quota: NotRequired[Annotated[int, Field(ge=0, description="by an approval")]]
    rule: NotRequired[Annotated[str, Field(description="the rule of the configuration that has approved it")]]


_Terms = TypedDict(
    "_Terms",
    {
        "from": NotRequired[Annotated[Time, Field(description="when the quota is wanted, if not at once")]],
        "until": NotRequired[Annotated[Time, Field(description="until when; missing if it is wanted for good")]],
    },
)


class QuotaRequest(_Terms):
    """A request for more quota of a project or of a domain."""

    id: RequestNumber
    status: RequestStatus
    domain: Named
    project: NotRequired[Named]
    reason: str
    requester: Initiator
    created_at: Time
    decided_at: NotRequired[Annotated[Time, Field(description="when it got its final status")]]
    passed_on_from: NotRequired[Annotated[RequestNumber, Field(description="the project's, that waits for this one")]]
    passed_on_to: NotRequired[Annotated[RequestNumber, Field(description="the domain's, that this one waits for")]]
    resources: list[WantedQuota]


class RequestEvent(TypedDict):
    """Something that was said or decided."""

    at: Time
    kind: EventKind
    text: str
    author: Initiator


class QuotaRequestWithConversation(QuotaRequest):
    """The same, and what was said and decided about it, the oldest first; of a long conversation the latest part."""

    conversation: list[RequestEvent]


class QuotaRequestAnswer(Warned):
    """One request, and a link to what was said before the entries that are here, if there is more."""

    quota_request: QuotaRequestWithConversation
    conversation_links: list[Link]
    conversation_total: Annotated[int, Field(ge=0, description="how many entries the conversation has")]


class QuotaRequestsAnswer(TypedDict):
    """Requests, the newest first, and a link to older ones if there may be more."""

    quota_requests: list[QuotaRequest]
    quota_request_links: list[Link]
    total: Annotated[int, Field(ge=0, description="how many there are, on all pages")]
