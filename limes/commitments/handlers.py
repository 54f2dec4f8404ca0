"""Commitments: of a project, and over all projects."""

import math

from limes.api import parameters
from limes.api.call import Call
from limes.api.parameters import Flag, Header, Moment, Names, Text, WholeNumber
from limes.commitments import answers, commitment, reading, reshape, store
from limes.commitments import bodies as commitments_bodies
from limes.commitments import create as creating
from limes.kernel.errors import BadRequest, NotFound
from limes.kernel.validation.shape import stored
from limes.projects.scope import find_project
from limes.web.call import Answer

HISTORY = Flag("history", "Show commitments that have ended, too.")
DAYS = WholeNumber("days", "How many days to look back.", 1, 3660, 30)
SINCE = WholeNumber("since", "Only changes after the one of this number.", 0, 2**62, 0)
DOMAINS = Names("domain_id", "Only commitments in these domains.")
PROJECTS = Names("project_id", "Only commitments of these projects.")
AZS = Names("availability_zone", "Only commitments in these availability zones.")
STATUS = Names("status", "Only changes after which a commitment had one of these statuses.")
CHANGED_SINCE = Moment("changed_since", "Only changes at this time or later.")
CHANGED_UNTIL = Moment("changed_until", "Only changes before this time.")
LIMIT = WholeNumber("limit", "Maximum number of changes.", 1, 10_000, 1000)
TRANSFER_TOKEN = Header("Transfer-Token", "What was given out when the commitment was marked for transfer.")
TOKEN = Text("token", "The same, for clients that cannot set headers.")
IDEMPOTENCY_KEY = Header(
    "Idempotency-Key", "The same request with the same key is carried out only once.", "^[ -~]{1,255}$"
)


_TRANSFER_STATUSES = ("", "unlisted", "public")


def list_of_project(call: Call) -> Answer:
    """Lists commitments. `?history` also shows ended ones."""
    commitments = reading.commitments_of_project(
        call.limes, *_find_project(call), call.selection(), with_history=HISTORY.of(call.req)
    )
    with_token = call.allows("project:edit")
    shown = [answers.render_commitment(each, with_token=with_token) for each in commitments]
    return Answer(document=answers.CommitmentsAnswer(commitments=shown))


def create(call: Call) -> Answer:
    """Makes a commitment: 201. An `Idempotency-Key` makes it safe to ask again."""
    project = _find_project(call)
    key = IDEMPOTENCY_KEY.of(call.req)
    if key is not None and not (0 < len(key) <= 255 and key.isascii() and key.isprintable()):
        raise BadRequest("header Idempotency-Key: expected 1 to 255 printable ASCII characters")
    request = call.body(commitments_bodies.NewCommitmentBody).commitment.request()
    made = creating.create_commitment(call.as_caller(), *project, request, key)
    return Answer(201, answers.CommitmentAnswer(commitment=made.document, warnings=list(made.warnings)))


def can_confirm(call: Call) -> Answer:
    """Says whether the same commitment could be made and confirmed at once."""
    project, request = _find_project(call), call.body(commitments_bodies.NewCommitmentBody).commitment.request()
    verdict = creating.preview_commitment(call.limes, *project, request)
    warnings = creating.preview_warnings(call.limes, *project, request)
    return Answer(document=answers.render_verdict(verdict, list(warnings)))


def plan(call: Call) -> Answer:
    """Says when the same commitment could be confirmed, from what is known today, and what blocks it."""
    project, request = _find_project(call), call.body(commitments_bodies.NewCommitmentBody).commitment.request()
    planned = creating.plan_commitment(call.limes, *project, request)
    warnings = creating.preview_warnings(call.limes, *project, request)
    return Answer(document=answers.PlanAnswer(plan=answers.render_plan(planned), warnings=list(warnings)))


def show_utilisation(call: Call) -> Answer:
    """Shows how well commitments fit what is used, over the last `?days`, and what to commit to."""
    days = DAYS.of(call.req)
    found = reading.report_utilisation(call.limes, *_find_project(call), call.selection(), days)
    return Answer(document=answers.UtilisationAnswer(utilisation=found))


def delete(call: Call) -> Answer:
    """Deletes a commitment: 204."""
    as_admin = call.allows("project:uncommit")
    if not as_admin and not (call.limes.settings.commitments.self_delete_grace and call.allows("project:edit")):
        raise call.refusal("project:uncommit")
    domain_id, project_id = call.params["domain_id"], call.params["project_id"]
    creating.delete_commitment(call.as_caller(), domain_id, project_id, _number(call), as_admin=as_admin)
    return Answer(204)


def start_transfer(call: Call) -> Answer:
    """Marks a commitment, or a part of it, for transfer: 202, with the token. An empty status withdraws it."""
    project, wanted = _find_project(call), call.body(commitments_bodies.TransferBody).commitment
    if wanted.transfer_status not in _TRANSFER_STATUSES:
        return Answer(400, "Invalid transfer_status code. Must be unlisted or public.")
    if wanted.amount <= 0:
        return Answer(400, "Delivered amount needs to be a positive value.")
    offered = reshape.offer_commitment(call.as_caller(), *project, _number(call), wanted.amount, wanted.transfer_status)
    return _answer(offered, 202)


def transfer(call: Call) -> Answer:
    """Takes the commitment of that number and token into the project of the path: 202."""
    project, token = _find_project(call), _transfer_token(call)
    return _answer(reshape.take_commitment(call.as_caller(), *project, _number(call), token), 202)


def merge(call: Call) -> Answer:
    """Makes one of several: 202."""
    project, body = _find_project(call), call.body(commitments_bodies.MergeBody)
    return _answer(reshape.merge_commitments(call.as_caller(), *project, body.commitment_ids), 202)


def renew(call: Call) -> Answer:
    """Makes the one that follows: 202."""
    project = _find_project(call)
    return _answer(reshape.renew_commitment(call.as_caller(), *project, _number(call)), 202)


def set_auto_renewal(call: Call) -> Answer:
    """Says whether it is to be renewed before its end: 200."""
    project, wanted = _find_project(call), call.body(commitments_bodies.AutoRenewalBody).commitment
    switched = reshape.switch_auto_renewal(call.as_caller(), *project, _number(call), on=wanted.auto_renew)
    return _answer(switched, 200)


def update_duration(call: Call) -> Answer:
    """Lets it last longer: 200."""
    project, body = _find_project(call), call.body(commitments_bodies.DurationBody)
    return _answer(reshape.change_duration(call.as_caller(), *project, _number(call), body.duration), 200)


def convert(call: Call) -> Answer:
    """Makes it one of another resource: 202."""
    project, conversion = _find_project(call), call.body(commitments_bodies.ConversionBody).commitment.conversion()
    return _answer(reshape.convert_commitment(call.as_caller(), *project, _number(call), conversion), 202)


def list_public(call: Call) -> Answer:
    """Lists what is offered to everybody, with the tokens: that is what public means. Not by whom."""
    commitments = reading.public_commitments(call.limes, call.selection())
    shown = [answers.render_commitment(each) for each in commitments]
    for each in shown:
        each.creator_uuid = each.creator_name = None
    return Answer(document=answers.CommitmentsAnswer(commitments=shown))


def show_by_token(call: Call) -> Answer:
    """Shows the commitment that is marked for transfer with a token, before one takes it.

    The token is not a part of the path: paths are logged.
    """
    return _answer(reading.commitment_by_token(call.limes, _transfer_token(call)), 200)


def list_events(call: Call) -> Answer:
    """Lists changes after the number `since`, in order. `next` is the `since` of the next request."""
    call.refuse_unknown_parameters()
    since, limit = SINCE.of(call.req), LIMIT.of(call.req)
    changes = reading.changes_after(call.limes, since, limit, call.selection(), _changes(call))
    events = [
        answers.CommitmentEvent(number=each.number, at=int(each.at), event=each.event, commitment=stored(each.document))
        for each in changes.shown
    ]
    return Answer(document=answers.CommitmentEventsAnswer(events=events, next=changes.next))


def _changes(call: Call) -> reading.ChangeFilter:
    """The wanted changes. Raises `BadRequest`."""
    since, until = CHANGED_SINCE.of(call.req), CHANGED_UNTIL.of(call.req)
    if since is not None and until is not None and since > until:
        raise BadRequest("query parameter changed_since: it is after changed_until")
    statuses = STATUS.of(call.req)
    known = [status.value for status in commitment.Status]
    if statuses is not None and not set(statuses) <= set(known):
        raise BadRequest(f"query parameter status: expected one of {', '.join(known)}")
    wanted = {
        "domain_id": DOMAINS.of(call.req),
        "project_id": PROJECTS.of(call.req),
        "availability_zone": AZS.of(call.req),
        "status": statuses,
    }
    return reading.ChangeFilter(
        {name: frozenset(values) for name, values in wanted.items() if values is not None},
        0 if since is None else since,
        math.inf if until is None else until,
    )


def list_conversions(call: Call) -> Answer:
    """Lists what commitments of a resource can be converted to. The selection is of the targets."""
    rates = reshape.find_conversions(call.limes, (call.params["service_type"], call.params["resource_name"]))
    wanted = set(call.selection().refs)
    return Answer(document=answers.render_rates({target: rate for target, rate in rates.items() if target in wanted}))


def _find_project(call: Call) -> tuple[str, str]:
    """The ids of the domain and project in the path. Raises `NotFound`; the caller is authorized already."""
    domain_id, project_id = call.params["domain_id"], call.params["project_id"]
    find_project(call.engine, domain_id, project_id)
    return domain_id, project_id


def _number(call: Call) -> int:
    """The commitment's number in the path. Raises `NotFound` for what is none."""
    text = call.params["id"]
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise NotFound("no such commitment")
    return int(text)


def _transfer_token(call: Call) -> str:
    """The token of a transfer: in the header `Transfer-Token`, or in the query. Raises `BadRequest`."""
    token = TRANSFER_TOKEN.of(call.req) or TOKEN.of(call.req)
    if not token:
        raise BadRequest("no transfer token provided")
    return token


def _answer(view: store.CommitmentView, status: int) -> Answer:
    """One commitment, with its transfer token if it has one."""
    shown = answers.render_commitment(view)
    return Answer(status, answers.CommitmentAnswer(commitment=shown, warnings=list(view.warnings)))


def show_summary(call: Call) -> Answer:
    """Sums up the commitments of all projects by resource and availability zone: used, unused, and ending soon."""
    days = parameters.AHEAD.of(call.req)
    found = reading.summarize_commitments(call.limes, call.place, call.selection(), days)
    return Answer(document=answers.CommitmentSummaryAnswer(commitment_summary=found))
