"""Requests for more quota: of a project, of a domain, and of all of them."""

from collections.abc import Callable
from functools import partial

from limes.api.answers import Named
from limes.api.call import Call
from limes.api.parameters import MAX_LIMIT, Names, Text, WholeNumber
from limes.app.context import Limes
from limes.audit.events import What
from limes.kernel.errors import BadRequest, NotFound
from limes.projects.scope import Place, find
from limes.quota.answers import render_refusals, status_of
from limes.quota.bodies import changes_with_set, quota_changes
from limes.quota.changes import QuotaOutcome
from limes.quota.temporary import Term
from limes.requests import answers, bodies, create, decide, deciders, lists, store
from limes.requests.pass_on import Rights, pass_on_request
from limes.requests.rules import RequestStatus
from limes.web.call import Answer

LIMIT = WholeNumber("limit", "Maximum number of requests.", 1, MAX_LIMIT, 100)
MARKER = WholeNumber("marker", "Only requests before the one of this number.", 1, 2**62, 2**62)
ENTRIES = WholeNumber("limit", "Maximum number of entries of the conversation, the latest ones.", 1, 100, 100)
BEFORE_ENTRY = WholeNumber("marker", "Only entries before the one of this number, counted from 1.", 1, 2**62, 2**62)
STATUS = Names("status", "Only requests of these statuses.")
LEVEL = Text("level", "Only requests of projects (`project`), or only those of domains (`domain`).")
PASSED_ON = Text("passed_on", "Only requests that wait for one of the domain (`true`), or only others (`false`).")


_LEVELS = {"project": True, "domain": False}
_YES_OR_NO = {"true": True, "false": False}
_NO_CHANGES = QuotaOutcome()


def list_everywhere(call: Call) -> Answer:
    """Lists the requests of all domains and projects, the newest first."""
    return _list(call, None)


def pass_on(call: Call) -> Answer:
    """Passes a project's request on to the cloud admins, as one of the domain: 201, with the latter."""
    call.require("domain:request_quota")
    comment = call.body(bodies.OptionalCommentBody).comment
    id_ = pass_on_request(call.as_caller(), call.place, _number(call), comment, call.permissions)
    return _answer(call, store.show_request(call.limes, Place(call.params["domain_id"]), id_), 201)


# -- the same on both levels -------------------------------------------------------------------------------------------


def list_of(call: Call) -> Answer:
    """Lists the requests of a {scope}, the newest first."""
    return _list(call, call.place)


def _list(call: Call, place: Place | None) -> Answer:
    limit, before = LIMIT.of(call.req), MARKER.of(call.req)
    found, total = store.list_requests(call.limes, place, _filters(call), before, limit)
    links = call.next_link(str(found[-1].row.id)) if len(found) == limit else []
    requests = [answers.render_request(call.catalog, each) for each in found]
    return Answer(document=answers.QuotaRequestsAnswer(quota_requests=requests, quota_request_links=links, total=total))


def show_of(call: Call) -> Answer:
    """Shows a {level}'s request with its conversation, or one page of it."""
    limit, before = ENTRIES.of(call.req), BEFORE_ENTRY.of(call.req)
    return _answer(call, store.show_request(call.limes, call.place, _number(call), limit, before))


def show_deciders_on(call: Call) -> Answer:
    """Shows who can decide on a {level}'s request, or confirm what is proposed. 409 if nobody has to."""
    described = store.show_request(call.limes, call.place, _number(call), 1)
    return _deciders(call, *deciders.rule_for(described))


def show_deciders(call: Call) -> Answer:
    """Shows who can decide on requests of a {level} for more quota."""
    find(call.engine, call.place)
    return _deciders(call, f"{call.level}:decide_requests", call.place)


def _deciders(call: Call, rule: str, place: Place) -> Answer:
    directory = call.deps.part(deciders.Directory) or deciders.Directory()
    found = directory.find(call.deps.policy, rule, place)
    users, more = found.people
    document = answers.DecidersAnswer(
        deciders=[Named(id_, name) for id_, name in users],
        level=found.level,
        more=more,
        roles=list(found.roles),
        problem=found.problem,
    )
    return Answer(document=document)


def create_for(call: Call) -> Answer:
    """Asks for more quota of a {level}: 201."""
    status = RequestStatus.PROPOSED if _only_proposes(call) else RequestStatus.OPEN
    find(call.engine, call.place)
    wanted = call.body(bodies.NewQuotaRequestBody).quota_request
    changes, of_set = changes_with_set(call.limes.quota_sets, wanted.quota_set, wanted.services)
    term = Term(wanted.until, wanted.starts_at)
    id_ = create.create_request(call.as_caller(), call.place, changes, wanted.reason, of_set, term, status)
    return _answer(call, store.show_request(call.limes, call.place, id_), 201)


def approve_of(call: Call) -> Answer:
    """Approves a {level}'s request, perhaps with lower amounts: 200; or a text that says what would be acceptable."""
    number, body = _number(call), call.body(bodies.ApprovalBody)
    rules = {What.MAX_QUOTA: "project:edit", What.MIN_QUOTA: "project:grant_quota"}
    rights = Rights(call.permissions, [what for what, rule in rules.items() if call.allows(rule)])
    lowered = quota_changes(body.services)
    outcome = decide.approve_request(call.as_caller(), call.place, number, lowered, body.comment, rights)
    if outcome.refusals:
        return Answer(status_of(outcome, 200), text=render_refusals(outcome, call.level))
    return _answer(call, store.show_request(call.limes, call.place, number), outcome=outcome)


def confirm(call: Call) -> Answer:
    """Confirms what a member of the project has proposed, which makes it an open request: 200."""
    return _add(call, create.confirm_request, call.body(bodies.OptionalCommentBody).comment)


def reject_of(call: Call) -> Answer:
    """Rejects a {level}'s request: 200."""
    rules = {RequestStatus.OPEN: "decide_requests", RequestStatus.PROPOSED: "request_quota"}
    states = [status for status, rule in rules.items() if call.allows(f"{call.level}:{rule}")]
    if not states:
        call.authorize()
    reject = partial(decide.reject_request, states=states)
    return _add(call, reject, call.body(bodies.RejectionBody).reason)


def withdraw_of(call: Call) -> Answer:
    """Withdraws a {level}'s request: 200."""
    withdraw = partial(decide.withdraw_request, only_own=_only_proposes(call))
    return _add(call, withdraw, call.body(bodies.OptionalCommentBody).comment)


def comment_on(call: Call) -> Answer:
    """Adds a comment to a {level}'s request: 201."""
    add = partial(store.add_comment, only_own=_only_proposes(call))
    return _add(call, add, call.body(bodies.CommentBody).comment, 201)


def _only_proposes(call: Call) -> bool:
    """Returns whether the caller may only propose, and change only what is his own. Raises `Forbidden`."""
    if call.allows(f"{call.level}:request_quota"):
        return False
    call.require(f"{call.level}:propose_quota")  # a rule that domains do not have
    return True


def _add(call: Call, add: Callable[[Limes, Place, int, str], None], text: str, status: int = 200) -> Answer:
    number = _number(call)
    add(call.as_caller(), call.place, number, text)
    return _answer(call, store.show_request(call.limes, call.place, number), status)


def _answer(call: Call, described: store.RequestView, status: int = 200, outcome: QuotaOutcome = _NO_CHANGES) -> Answer:
    document = answers.QuotaRequestAnswer(
        quota_request=answers.render_with_conversation(call.catalog, described),
        conversation_links=answers.older_entries(described, call.req.params),
        conversation_total=described.entries,
        warnings=[*outcome.warnings, *outcome.backend_errors],
    )
    return Answer(status, document)


def _number(call: Call) -> int:
    """The request's number in the path. Raises `NotFound` for what is none."""
    text = call.params["id"]
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise NotFound("no such quota request")
    return int(text)


def _filters(call: Call) -> lists.Filters:
    statuses = STATUS.of(call.req)
    level = LEVEL.of(call.req)
    known = [status.value for status in RequestStatus]
    if set(statuses or ()) - set(known):
        raise BadRequest(f"query parameter status: expected one of {', '.join(known)}")
    if level is not None and level not in _LEVELS:
        raise BadRequest("query parameter level: expected project or domain")
    passed_on = PASSED_ON.of(call.req)
    if passed_on is not None and passed_on not in _YES_OR_NO:
        raise BadRequest("query parameter passed_on: expected true or false")
    selection = call.selection()
    return lists.Filters(
        of_projects=None if level is None else _LEVELS[level],
        passed_on=None if passed_on is None else _YES_OR_NO[passed_on],
        statuses=statuses,
        refs=None if selection.is_whole(call.catalog) else selection.refs,
    )
