"""The part of the table (`routes`) that is about requests for more quota."""

from limes.api import parameters as p
from limes.api.answers.quota_request import QuotaRequestAnswer, QuotaRequestsAnswer
from limes.api.call import Operation
from limes.api.handlers import quota_request
from limes.api.levels import PROJECT, SELECTION, on_both_levels
from limes.api.strict_bodies import ApprovalBody, CommentBody, NewQuotaRequestBody, OptionalCommentBody, RejectionBody

_FILTERS = (*SELECTION, p.STATUS, p.LEVEL, p.PASSED_ON, p.REQUESTS, p.BEFORE_REQUEST)
_PAGE = (p.ENTRIES, p.BEFORE_ENTRY)
_LIST = {200: QuotaRequestsAnswer}
_ONE = {200: QuotaRequestAnswer}
_MADE = {201: QuotaRequestAnswer}
_NEW_ERRORS = (404, 409, 422, 423)
_RAISE = ("raise", "raise_lowpriv")

QUOTA_REQUESTS = {
    "/v1/quota-requests": {
        "GET": Operation(quota_request.list_everywhere, "cluster:list_requests", _LIST, parameters=_FILTERS)
    },
    **on_both_levels(
        {
            "quota-requests": {
                "GET": Operation(quota_request.list_of, "show_requests", _LIST, (404,), _FILTERS),
                "POST": Operation(
                    quota_request.create_for, "request_quota", _MADE, _NEW_ERRORS, body=NewQuotaRequestBody
                ),
            },
            "quota-requests/{id}": {"GET": Operation(quota_request.show_of, "show_requests", _ONE, (404,), _PAGE)},
            "quota-requests/{id}/approve": {
                "POST": Operation(
                    quota_request.approve_of, "decide_requests", _ONE, _NEW_ERRORS, body=ApprovalBody, also=_RAISE
                )
            },
            "quota-requests/{id}/reject": {
                "POST": Operation(quota_request.reject_of, "decide_requests", _ONE, (404, 409), body=RejectionBody)
            },
            "quota-requests/{id}/withdraw": {
                "POST": Operation(
                    quota_request.withdraw_of, "request_quota", _ONE, (404, 409), body=OptionalCommentBody
                )
            },
            "quota-requests/{id}/comments": {
                "POST": Operation(quota_request.comment_on, "request_quota", _MADE, (404, 409), body=CommentBody)
            },
        }
    ),
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
