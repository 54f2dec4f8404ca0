"""The part of the table (`routes`) that is about requests for more quota."""

from limes.api import parameters as p
from limes.api.call import Operation
from limes.api.levels import PROJECT, SELECTION, on_both_levels
from limes.requests import handlers
from limes.requests.answers import QuotaRequestAnswer, QuotaRequestsAnswer
from limes.requests.bodies import ApprovalBody, CommentBody, NewQuotaRequestBody, OptionalCommentBody, RejectionBody

_FILTERS = (*SELECTION, p.STATUS, p.LEVEL, p.PASSED_ON, p.REQUESTS, p.BEFORE_REQUEST)
_PAGE = (p.ENTRIES, p.BEFORE_ENTRY)
_LIST = {200: QuotaRequestsAnswer}
_ONE = {200: QuotaRequestAnswer}
_MADE = {201: QuotaRequestAnswer}
_NEW_ERRORS = (404, 409, 422, 423)
_RAISE = ("raise", "raise_lowpriv")

_DECIDE = "decide_requests"
_ASK = "request_quota"

_LEVELS: dict[str, dict[str, Operation]] = {
    "quota-requests": {
        "GET": Operation(handlers.list_of, "show_requests", _LIST, (404,), _FILTERS),
        "POST": Operation(handlers.create_for, _ASK, _MADE, _NEW_ERRORS, body=NewQuotaRequestBody),
    },
    "quota-requests/{id}": {"GET": Operation(handlers.show_of, "show_requests", _ONE, (404,), _PAGE)},
    "quota-requests/{id}/approve": {
        "POST": Operation(handlers.approve_of, _DECIDE, _ONE, _NEW_ERRORS, body=ApprovalBody, also=_RAISE)
    },
    "quota-requests/{id}/reject": {
        "POST": Operation(handlers.reject_of, _DECIDE, _ONE, (404, 409), body=RejectionBody)
    },
    "quota-requests/{id}/withdraw": {
        "POST": Operation(handlers.withdraw_of, _ASK, _ONE, (404, 409), body=OptionalCommentBody)
    },
    "quota-requests/{id}/comments": {"POST": Operation(handlers.comment_on, _ASK, _MADE, (404, 409), body=CommentBody)},
}
_PASS_ON = Operation(
    handlers.pass_on, f"project:{_DECIDE}", _MADE, (404, 409), body=OptionalCommentBody, also=(f"domain:{_ASK}",)
)
QUOTA_REQUESTS = {
    "/v1/quota-requests": {
        "GET": Operation(handlers.list_everywhere, "cluster:list_requests", _LIST, parameters=_FILTERS)
    },
    **on_both_levels(_LEVELS),
    f"{PROJECT}/quota-requests/{{id}}/pass-on": {"POST": _PASS_ON},
}
"""By path and method."""
