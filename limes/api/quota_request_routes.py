"""The part of the table (`routes`) that is about requests for more quota."""

from limes.api import parameters as p
from limes.api.call import Operation
from limes.api.commitment_routes import DOMAIN, PROJECT, SELECTION
from limes.api.handlers import quota_request
from limes.api.quota_request_bodies import (
    ApprovalBody,
    CommentBody,
    NewQuotaRequestBody,
    OptionalCommentBody,
    RejectionBody,
)
from limes.api.shapes.quota_request import QuotaRequestAnswer, QuotaRequestsAnswer

_FILTERS = (*SELECTION, p.STATUS, p.LEVEL, p.REQUESTS, p.BEFORE_REQUEST)
_ONE = {200: QuotaRequestAnswer}
_MADE = {201: QuotaRequestAnswer}


def _level(path: str, level: str) -> dict[str, dict[str, Operation]]:
    """Returns the operations of requests of a project, or of a domain."""
    requests, request = f"{path}/quota-requests", f"{path}/quota-requests/{{id}}"
    shows, asks, decides = f"{level}:show_requests", f"{level}:request_quota", f"{level}:decide_requests"
    quota_rules = (f"{level}:raise", f"{level}:raise_lowpriv")
    return {
        requests: {
            "GET": Operation(quota_request.list_requests, shows, {200: QuotaRequestsAnswer}, (404,), _FILTERS),
            "POST": Operation(quota_request.create, asks, _MADE, (404, 409, 422, 423), body=NewQuotaRequestBody),
        },
        request: {"GET": Operation(quota_request.show, shows, _ONE, (404,))},
        f"{request}/approve": {
            "POST": Operation(
                quota_request.approve, decides, _ONE, (404, 409, 422, 423), body=ApprovalBody, also=quota_rules
            )
        },
        f"{request}/reject": {"POST": Operation(quota_request.reject, decides, _ONE, (404, 409), body=RejectionBody)},
        f"{request}/withdraw": {
            "POST": Operation(quota_request.withdraw, asks, _ONE, (404, 409), body=OptionalCommentBody)
        },
        f"{request}/comments": {"POST": Operation(quota_request.comment, asks, _MADE, (404, 409), body=CommentBody)},
    }


QUOTA_REQUESTS = {
    "/v1/quota-requests": {
        "GET": Operation(
            quota_request.list_requests, "cluster:list_requests", {200: QuotaRequestsAnswer}, parameters=_FILTERS
        )
    },
    **_level(DOMAIN, "domain"),
    **_level(PROJECT, "project"),
    f"{PROJECT}/quota-requests/{{id}}/pass-on": {
        "POST": Operation(
            quota_request.pass_on,
            "project:decide_requests",
            _MADE,
            (404, 409),
            body=OptionalCommentBody,
            also=("domain:request_quota",),
        )
    },
}
"""By path and method."""
