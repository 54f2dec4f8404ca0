"""The part of the table (`routes`) that is about commitments."""

from limes.api import parameters as p
from limes.api.call import GET, POST, Operation
from limes.api.levels import PROJECT, SELECTION, At, on_every_level
from limes.commitments import answers as a
from limes.commitments import bodies as commitments_bodies
from limes.commitments import handlers as commitment

_COMMITMENTS = f"{PROJECT}/commitments"
_COMMITMENT = f"{_COMMITMENTS}/{{id}}"

_CHANGES = (p.IN_DOMAINS, p.IN_PROJECTS, p.IN_AZS, p.AFTER_CHANGE, p.CHANGED_SINCE, p.CHANGED_UNTIL)
_TOKEN = (p.TRANSFER_TOKEN, p.TOKEN)

_ERRORS = (404, 409, 422, 423)
"""What goes wrong where a commitment is made or changed."""
_CREATED, _OK, _ACCEPTED = {201: a.CommitmentAnswer}, {200: a.CommitmentAnswer}, {202: a.CommitmentAnswer}
_EDIT, _SHOW, _PUBLIC = "project:edit", "project:show", "cluster:show_public_commitments"
_NEW = commitments_bodies.NewCommitmentBody

COMMITMENTS = {
    _COMMITMENTS: GET(commitment.list_of_project, _SHOW, {200: a.CommitmentsAnswer}, (404,), (*SELECTION, p.HISTORY)),
    f"{_COMMITMENTS}/new": POST(commitment.create, _EDIT, _CREATED, _ERRORS, (p.IDEMPOTENCY_KEY,), _NEW),
    f"{_COMMITMENTS}/can-confirm": POST(
        commitment.can_confirm, _EDIT, {200: a.CanConfirmAnswer}, (404, 422, 423), body=_NEW
    ),
    f"{_COMMITMENTS}/plan": POST(commitment.plan, _EDIT, {200: a.PlanAnswer}, (404, 422, 423), body=_NEW),
    f"{_COMMITMENTS}/utilisation": GET(
        commitment.show_utilisation, _SHOW, {200: a.UtilisationAnswer}, (404,), (*SELECTION, p.DAYS)
    ),
    f"{_COMMITMENTS}/merge": POST(
        commitment.merge, _EDIT, _ACCEPTED, (404, 409, 422), body=commitments_bodies.MergeBody
    ),
    _COMMITMENT: {
        "PUT": Operation(
            commitment.set_auto_renewal, _EDIT, _OK, (404, 409, 422), body=commitments_bodies.AutoRenewalBody
        ),
        # `project:edit` will do, too, within the configured time of grace
        "DELETE": Operation(commitment.delete, "project:uncommit", {204: None}, (404, 409), authorizes=True),
    },
    f"{_COMMITMENT}/renew": POST(commitment.renew, _EDIT, _ACCEPTED, _ERRORS),
    f"{_COMMITMENT}/update-duration": POST(
        commitment.update_duration, _EDIT, _OK, _ERRORS, body=commitments_bodies.DurationBody
    ),
    f"{_COMMITMENT}/convert": POST(
        commitment.convert, _EDIT, _ACCEPTED, _ERRORS, body=commitments_bodies.ConversionBody
    ),
    f"{_COMMITMENT}/start-transfer": POST(
        commitment.start_transfer,
        _EDIT,
        {**_ACCEPTED, 400: a.Message},
        (404, 409, 422),
        body=commitments_bodies.TransferBody,
    ),
    f"{PROJECT}/transfer-commitment/{{id}}": POST(commitment.transfer, _EDIT, _ACCEPTED, _ERRORS, _TOKEN),
    "/v1/commitments": GET(
        commitment.list_events,
        "cluster:list_commitments",
        {200: a.CommitmentEventsAnswer},
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
    "/v1/commitments/by-token": GET(commitment.show_by_token, _PUBLIC, _OK, (404,), _TOKEN),
    "/v1/commitment-conversion/{service_type}/{resource_name}": GET(
        commitment.list_conversions, "cluster:show_basic", {200: a.ConversionsAnswer}, (404, 422), SELECTION
    ),
    "/v1/public-commitments": GET(commitment.list_public, _PUBLIC, {200: a.CommitmentsAnswer}, (), SELECTION),
}
