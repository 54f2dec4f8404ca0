"""The part of the table (`routes`) that is about commitments."""

from typing import Any

from limes.api import bodies
from limes.api import parameters as p
from limes.api.answers import commitment as a
from limes.api.call import Operation
from limes.api.handlers import commitment
from limes.api.levels import PROJECT, SELECTION, At, on_every_level

_COMMITMENTS = f"{PROJECT}/commitments"
_COMMITMENT = f"{_COMMITMENTS}/{{id}}"

_CHANGES = (p.IN_DOMAINS, p.IN_PROJECTS, p.IN_AZS, p.AFTER_CHANGE, p.CHANGED_SINCE, p.CHANGED_UNTIL)
_TOKEN = (p.TRANSFER_TOKEN, p.TOKEN)

_ERRORS = (404, 409, 422, 423)
"""What goes wrong where a commitment is made or changed."""
_ASK, _EDIT, _SHOW, _PUBLIC = (404, 422, 423), "project:edit", "project:show", "cluster:show_public_commitments"
_CREATED, _OK, _ACCEPTED = ({status: a.CommitmentAnswer} for status in (201, 200, 202))


def _get(handler: Any, rule: str, answer: Any, errors: Any = (), parameters: Any = ()) -> dict[str, Operation]:
    return {"GET": Operation(handler, rule, {200: answer}, errors, parameters)}


def _post(handler: Any, answers: Any, errors: Any, body: Any = None, parameters: Any = ()) -> dict[str, Operation]:
    return {"POST": Operation(handler, _EDIT, answers, errors, parameters, body)}


COMMITMENTS = {
    _COMMITMENTS: _get(commitment.list_of_project, _SHOW, a.CommitmentsAnswer, (404,), (*SELECTION, p.HISTORY)),
    f"{_COMMITMENTS}/new": _post(commitment.create, _CREATED, _ERRORS, bodies.NewCommitmentBody, (p.IDEMPOTENCY_KEY,)),
    f"{_COMMITMENTS}/can-confirm": _post(
        commitment.can_confirm, {200: a.CanConfirmAnswer}, _ASK, bodies.NewCommitmentBody
    ),
    f"{_COMMITMENTS}/plan": _post(commitment.plan, {200: a.PlanAnswer}, _ASK, bodies.NewCommitmentBody),
    f"{_COMMITMENTS}/utilisation": _get(
        commitment.show_utilisation, _SHOW, a.UtilisationAnswer, (404,), (*SELECTION, p.DAYS)
    ),
    f"{_COMMITMENTS}/merge": _post(commitment.merge, _ACCEPTED, (404, 409, 422), bodies.MergeBody),
    _COMMITMENT: {
        "PUT": Operation(commitment.set_auto_renewal, _EDIT, _OK, (404, 409, 422), body=bodies.AutoRenewalBody),
        # `project:edit` will do, too, within the configured time of grace
        "DELETE": Operation(commitment.delete, "project:uncommit", {204: None}, (404, 409), authorizes=True),
    },
    f"{_COMMITMENT}/renew": _post(commitment.renew, _ACCEPTED, _ERRORS),
    f"{_COMMITMENT}/update-duration": _post(commitment.update_duration, _OK, _ERRORS, bodies.DurationBody),
    f"{_COMMITMENT}/convert": _post(commitment.convert, _ACCEPTED, _ERRORS, bodies.ConversionBody),
    f"{_COMMITMENT}/start-transfer": _post(
        commitment.start_transfer, {**_ACCEPTED, 400: a.Message}, (404, 409, 422), bodies.TransferBody
    ),
    f"{PROJECT}/transfer-commitment/{{id}}": _post(commitment.transfer, _ACCEPTED, _ERRORS, None, _TOKEN),
    "/v1/commitments": _get(
        commitment.list_events,
        "cluster:list_commitments",
        a.CommitmentEventsAnswer,
        parameters=(*SELECTION, *_CHANGES, p.SINCE, p.EVENTS),
    ),
    **on_every_level(
        "commitment-summary",
        Operation(
            commitment.show_summary,
            "cluster:list_commitments",
            {200: a.CommitmentSummaryAnswer},
            parameters=(*SELECTION, p.AHEAD),
        ),
        At("Sums up the commitments of a domain's projects.", "domain:show"),
        At("Sums up the commitments of a project.", _SHOW),
    ),
    "/v1/commitments/by-token": _get(commitment.show_by_token, _PUBLIC, a.CommitmentAnswer, (404,), _TOKEN),
    "/v1/commitment-conversion/{service_type}/{resource_name}": _get(
        commitment.list_conversions, "cluster:show_basic", a.ConversionsAnswer, (404, 422), SELECTION
    ),
    "/v1/public-commitments": _get(commitment.list_public, _PUBLIC, a.CommitmentsAnswer, (), SELECTION),
}
