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

_FILTERS = (*SELECTION, p.STATUS, p.LEVEL, p.PASSED_ON, p.REQUESTS, p.BEFORE_REQUEST)
_PAGE = (p.ENTRIES, p.BEFORE_ENTRY)
_ONE = {200: QuotaRequestAnswer}
_MADE = {201: QuotaRequestAnswer}
_NEW_ERRORS = (404, 409, 422, 423)

QUOTA_REQUESTS = {
    "/v1/quota-requests": {
        "GET": Operation(
            quota_request.list_everywhere, "cluster:list_requests", {200: QuotaRequestsAnswer}, parameters=_FILTERS
        )
    },
    f"{DOMAIN}/quota-requests": {
        "GET": Operation(
            quota_request.list_of_domain, "domain:show_requests", {200: QuotaRequestsAnswer}, (404,), _FILTERS
        ),
        "POST": Operation(
            quota_request.create_for_domain, "domain:request_quota", _MADE, _NEW_ERRORS, body=NewQuotaRequestBody
        ),
    },
    f"{DOMAIN}/quota-requests/{{id}}": {
        "GET": Operation(quota_request.show_of_domain, "domain:show_requests", _ONE, (404,), _PAGE)
    },
    f"{DOMAIN}/quota-requests/{{id}}/approve": {
        "POST": Operation(
            quota_request.approve_of_domain,
            "domain:decide_requests",
            _ONE,
            _NEW_ERRORS,
            body=ApprovalBody,
            also=("domain:raise", "domain:raise_lowpriv"),
        )
    },
    f"{DOMAIN}/quota-requests/{{id}}/reject": {
        "POST": Operation(
            quota_request.reject_of_domain, "domain:decide_requests", _ONE, (404, 409), body=RejectionBody
        )
    },
    f"{DOMAIN}/quota-requests/{{id}}/withdraw": {
        "POST": Operation(
            quota_request.withdraw_of_domain, "domain:request_quota", _ONE, (404, 409), body=OptionalCommentBody
        )
    },
    f"{DOMAIN}/quota-requests/{{id}}/comments": {
        "POST": Operation(quota_request.comment_on_domain, "domain:request_quota", _MADE, (404, 409), body=CommentBody)
    },
    f"{PROJECT}/quota-requests": {
        "GET": Operation(
            quota_request.list_of_project, "project:show_requests", {200: QuotaRequestsAnswer}, (404,), _FILTERS
        ),
        "POST": Operation(
            quota_request.create_for_project, "project:request_quota", _MADE, _NEW_ERRORS, body=NewQuotaRequestBody
        ),
    },
    f"{PROJECT}/quota-requests/{{id}}": {
        "GET": Operation(quota_request.show_of_project, "project:show_requests", _ONE, (404,), _PAGE)
    },
    f"{PROJECT}/quota-requests/{{id}}/approve": {
        "POST": Operation(
            quota_request.approve_of_project,
            "project:decide_requests",
            _ONE,
            _NEW_ERRORS,
            body=ApprovalBody,
            also=("project:raise", "project:raise_lowpriv"),
        )
    },
    f"{PROJECT}/quota-requests/{{id}}/reject": {
        "POST": Operation(
            quota_request.reject_of_project, "project:decide_requests", _ONE, (404, 409), body=RejectionBody
        )
    },
    f"{PROJECT}/quota-requests/{{id}}/withdraw": {
        "POST": Operation(
            quota_request.withdraw_of_project, "project:request_quota", _ONE, (404, 409), body=OptionalCommentBody
        )
    },
    f"{PROJECT}/quota-requests/{{id}}/comments": {
        "POST": Operation(
            quota_request.comment_on_project, "project:request_quota", _MADE, (404, 409), body=CommentBody
        )
    },
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
