"""Requests that ask for more quota, and decide about it."""

from msgspec import structs

from limes.api import levels, policy
from limes.api.call import Operation
from limes.requests import answers, bodies, handlers

_FILTERS = (*levels.SELECTION, handlers.STATUS, handlers.LEVEL, handlers.PASSED_ON, handlers.LIMIT, handlers.MARKER)
_PAGE = (handlers.ENTRIES, handlers.BEFORE_ENTRY)
_LIST = {200: answers.QuotaRequestsAnswer}
_ONE = {200: answers.QuotaRequestAnswer}
_DECIDERS = {200: answers.DecidersAnswer}
_MADE = {201: answers.QuotaRequestAnswer}
_NEW_ERRORS = (404, 409, 422, 423)
_RAISE = ("raise", "raise_lowpriv")

_DECIDE = "decide_requests"
_ASK = "request_quota"
_PROPOSE = "propose_quota"

_LEVELS: dict[str, dict[str, Operation]] = {
    "quota-requests": {
        "GET": Operation(handlers.list_of, "show_requests", _LIST, (404,), _FILTERS),
        "POST": Operation(handlers.create_for, _ASK, _MADE, _NEW_ERRORS, body=bodies.NewQuotaRequestBody),
    },
    "quota-requests/{id}": {"GET": Operation(handlers.show_of, "show_requests", _ONE, (404,), _PAGE)},
    "quota-requests/{id}/deciders": {
        "GET": Operation(handlers.show_deciders_on, "show_deciders", _DECIDERS, (404, 409))
    },
    "deciders": {"GET": Operation(handlers.show_deciders, "show_deciders", _DECIDERS, (404,))},
    "quota-requests/{id}/approve": {
        "POST": Operation(handlers.approve_of, _DECIDE, _ONE, _NEW_ERRORS, body=bodies.ApprovalBody, also=_RAISE)
    },
    "quota-requests/{id}/reject": {
        "POST": Operation(handlers.reject_of, _DECIDE, _ONE, (404, 409), body=bodies.RejectionBody)
    },
    "quota-requests/{id}/withdraw": {
        "POST": Operation(handlers.withdraw_of, _ASK, _ONE, (404, 409), body=bodies.OptionalCommentBody)
    },
    "quota-requests/{id}/comments": {
        "POST": Operation(handlers.comment_on, _ASK, _MADE, (404, 409), body=bodies.CommentBody)
    },
}
_BY_MEMBERS = {"": _PROPOSE, "/{id}/reject": _ASK, "/{id}/withdraw": _PROPOSE, "/{id}/comments": _PROPOSE}
"""What members of a project may do to proposals, or its admins. The handlers ask for either of two rules."""
_PASS_ON = Operation(
    handlers.pass_on, f"project:{_DECIDE}", _MADE, (404, 409), body=bodies.OptionalCommentBody, also=(f"domain:{_ASK}",)
)
_CONFIRM = Operation(handlers.confirm, f"project:{_ASK}", _ONE, _NEW_ERRORS, body=bodies.OptionalCommentBody)
_ALL = {
    "/v1/quota-requests": {
        "GET": Operation(handlers.list_everywhere, "cluster:list_requests", _LIST, parameters=_FILTERS)
    },
    **levels.on_both_levels(_LEVELS),
    f"{levels.PROJECT}/quota-requests/{{id}}/pass-on": {"POST": _PASS_ON},
    f"{levels.PROJECT}/quota-requests/{{id}}/confirm": {"POST": _CONFIRM},
}
for _end, _rule in _BY_MEMBERS.items():
    _methods = _ALL[f"{levels.PROJECT}/quota-requests{_end}"]
    _methods["POST"] = structs.replace(_methods["POST"], also=(f"project:{_rule}",), authorizes=True)

SECTIONS = {"quota-requests": _ALL}

RULES = (
    *policy.rules(
        "project",
        show_requests=("project_viewer", "Show requests for more quota of a project."),
        show_deciders=("project_viewer", "See by name who can decide on requests of a project."),
        request_quota=(
            "project_editor",
            "Ask for more quota of a project, comment on such requests, withdraw them, and confirm or reject what"
            " members have proposed.",
        ),
        propose_quota=(
            "project_member",
            "Propose to ask for more quota of a project: an admin of the project has to confirm it. Comment on what one"
            " has proposed, and withdraw it.",
        ),
        decide_requests=(
            "domain_editor",
            "Approve and reject requests for more quota of a project, or pass them on. To approve, `project:raise` is"
            " needed, too.",
        ),
    ),
    *policy.rules(
        "domain",
        show_requests=("domain_viewer", "Show requests for more quota of a domain and its projects."),
        show_deciders=("domain_viewer", "See by name who can decide on requests of a domain."),
        request_quota=("domain_editor", "Ask for more quota of a domain, comment on such requests, and withdraw them."),
        decide_requests=(
            "cluster_admin",
            "Approve and reject requests for more quota of a domain. To approve, `domain:raise` is needed, too.",
        ),
    ),
    *policy.rules("cluster", list_requests=("cluster_viewer", "List the requests for more quota of all domains.")),
)
