"""Requests about commitments."""

from limes.api import parameters as p
from limes.api import policy
from limes.api.call import GET, POST, Operation
from limes.api.levels import PROJECT, SELECTION, At, on_every_level
from limes.commitments import answers as a
from limes.commitments import bodies
from limes.commitments import handlers as h

_COMMITMENTS = f"{PROJECT}/commitments"
_COMMITMENT = f"{_COMMITMENTS}/{{id}}"

_CHANGES = (*SELECTION, h.DOMAINS, h.PROJECTS, h.AZS, h.STATUS, h.CHANGED_SINCE, h.CHANGED_UNTIL, h.SINCE, h.LIMIT)
_TOKEN = (h.TRANSFER_TOKEN, h.TOKEN)

_ERRORS = (404, 409, 422, 423)
"""What goes wrong where a commitment is made or changed."""
_CREATED, _OK, _ACCEPTED = {201: a.CommitmentAnswer}, {200: a.CommitmentAnswer}, {202: a.CommitmentAnswer}
_EDIT, _SHOW, _PUBLIC = "project:edit", "project:show", "cluster:show_public_commitments"
_NEW = bodies.NewCommitmentBody

_ALL = {
    _COMMITMENTS: GET(h.list_of_project, _SHOW, {200: a.CommitmentsAnswer}, (404,), (*SELECTION, h.HISTORY)),
    f"{_COMMITMENTS}/new": POST(h.create, _EDIT, _CREATED, _ERRORS, (h.IDEMPOTENCY_KEY,), _NEW),
    f"{_COMMITMENTS}/can-confirm": POST(h.can_confirm, _EDIT, {200: a.CanConfirmAnswer}, (404, 422, 423), body=_NEW),
    f"{_COMMITMENTS}/plan": POST(h.plan, _EDIT, {200: a.PlanAnswer}, (404, 422, 423), body=_NEW),
    f"{_COMMITMENTS}/utilisation": GET(
        h.show_utilisation, _SHOW, {200: a.UtilisationAnswer}, (404,), (*SELECTION, h.DAYS)
    ),
    f"{_COMMITMENTS}/merge": POST(h.merge, _EDIT, _ACCEPTED, (404, 409, 422), body=bodies.MergeBody),
    _COMMITMENT: {
        "PUT": Operation(h.set_auto_renewal, _EDIT, _OK, (404, 409, 422), body=bodies.AutoRenewalBody),
        # `project:edit` will do, too, within the configured time of grace
        "DELETE": Operation(h.delete, "project:uncommit", {204: None}, (404, 409), authorizes=True),
    },
    f"{_COMMITMENT}/renew": POST(h.renew, _EDIT, _ACCEPTED, _ERRORS),
    f"{_COMMITMENT}/update-duration": POST(h.update_duration, _EDIT, _OK, _ERRORS, body=bodies.DurationBody),
    f"{_COMMITMENT}/convert": POST(h.convert, _EDIT, _ACCEPTED, _ERRORS, body=bodies.ConversionBody),
    f"{_COMMITMENT}/start-transfer": POST(
        h.start_transfer, _EDIT, {**_ACCEPTED, 400: a.Message}, (404, 409, 422), body=bodies.TransferBody
    ),
    f"{PROJECT}/transfer-commitment/{{id}}": POST(h.transfer, _EDIT, _ACCEPTED, _ERRORS, _TOKEN),
    "/v1/commitments": GET(
        h.list_events, "cluster:list_commitments", {200: a.CommitmentEventsAnswer}, parameters=_CHANGES
    ),
    **on_every_level(
        "commitment-summary",
        Operation(
            h.show_summary,
            "cluster:list_commitments",
            {200: a.CommitmentSummaryAnswer},
            parameters=(*SELECTION, p.AHEAD),
        ),
        At("Sums up the commitments of a domain's projects.", "domain:show"),
        At("Sums up the commitments of a project.", _SHOW),
    ),
    "/v1/commitments/by-token": GET(h.show_by_token, _PUBLIC, _OK, (404,), _TOKEN),
    "/v1/commitment-conversion/{service_type}/{resource_name}": GET(
        h.list_conversions, "cluster:show_basic", {200: a.ConversionsAnswer}, (404, 422), SELECTION
    ),
    "/v1/public-commitments": GET(h.list_public, _PUBLIC, {200: a.CommitmentsAnswer}, (), SELECTION),
}

SECTIONS = {"commitments": _ALL}

RULES = (
    *policy.rules(
        "project",
        uncommit=(
            "cluster_admin",
            "Delete a commitment that is not confirmed. (With `project:edit`: within the configured grace time.)",
        ),
    ),
    *policy.rules(
        "cluster",
        list_commitments=("cluster_viewer", "Follow the changes of all commitments."),
        show_public_commitments=("@", "See which commitments are offered to everybody."),
    ),
)
