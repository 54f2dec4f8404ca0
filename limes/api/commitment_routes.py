"""The part of the table (`routes`) that is about commitments."""

from limes.api import parameters as p
from limes.api.answers.commitment import (
    CanConfirmAnswer,
    CommitmentAnswer,
    CommitmentEventsAnswer,
    CommitmentsAnswer,
    CommitmentSummaryAnswer,
    ConversionsAnswer,
    Message,
    PlanAnswer,
    UtilisationAnswer,
)
from limes.api.bodies import AutoRenewalBody, ConversionBody, DurationBody, MergeBody, NewCommitmentBody, TransferBody
from limes.api.call import Operation
from limes.api.handlers import commitment
from limes.api.levels import PROJECT, SELECTION, At, on_every_level

_COMMITMENTS = f"{PROJECT}/commitments"
_COMMITMENT = f"{_COMMITMENTS}/{{id}}"

_CHANGES = (p.IN_DOMAINS, p.IN_PROJECTS, p.IN_AZS, p.AFTER_CHANGE, p.CHANGED_SINCE, p.CHANGED_UNTIL)
_TOKEN = (p.TRANSFER_TOKEN, p.TOKEN)

_ERRORS = (404, 409, 422, 423)
"""What goes wrong where a commitment is made or changed."""

COMMITMENTS = {
    _COMMITMENTS: {
        "GET": Operation(
            commitment.list_of_project, "project:show", {200: CommitmentsAnswer}, (404,), (*SELECTION, p.HISTORY)
        )
    },
    f"{_COMMITMENTS}/new": {
        "POST": Operation(
            commitment.create, "project:edit", {201: CommitmentAnswer}, _ERRORS, (p.IDEMPOTENCY_KEY,), NewCommitmentBody
        )
    },
    f"{_COMMITMENTS}/can-confirm": {
        "POST": Operation(
            commitment.can_confirm, "project:edit", {200: CanConfirmAnswer}, (404, 422, 423), body=NewCommitmentBody
        )
    },
    f"{_COMMITMENTS}/plan": {
        "POST": Operation(commitment.plan, "project:edit", {200: PlanAnswer}, (404, 422, 423), body=NewCommitmentBody)
    },
    f"{_COMMITMENTS}/utilisation": {
        "GET": Operation(
            commitment.show_utilisation, "project:show", {200: UtilisationAnswer}, (404,), (*SELECTION, p.DAYS)
        )
    },
    f"{_COMMITMENTS}/merge": {
        "POST": Operation(commitment.merge, "project:edit", {202: CommitmentAnswer}, (404, 409, 422), body=MergeBody)
    },
    _COMMITMENT: {
        "PUT": Operation(
            commitment.set_auto_renewal, "project:edit", {200: CommitmentAnswer}, (404, 409, 422), body=AutoRenewalBody
        ),
        # `project:edit` will do, too, within the configured time of grace
        "DELETE": Operation(commitment.delete, "project:uncommit", {204: None}, (404, 409), authorizes=True),
    },
    f"{_COMMITMENT}/renew": {"POST": Operation(commitment.renew, "project:edit", {202: CommitmentAnswer}, _ERRORS)},
    f"{_COMMITMENT}/update-duration": {
        "POST": Operation(
            commitment.update_duration, "project:edit", {200: CommitmentAnswer}, _ERRORS, body=DurationBody
        )
    },
    f"{_COMMITMENT}/convert": {
        "POST": Operation(commitment.convert, "project:edit", {202: CommitmentAnswer}, _ERRORS, body=ConversionBody)
    },
    f"{_COMMITMENT}/start-transfer": {
        "POST": Operation(
            commitment.start_transfer,
            "project:edit",
            {202: CommitmentAnswer, 400: Message},
            (404, 409, 422),
            body=TransferBody,
        )
    },
    f"{PROJECT}/transfer-commitment/{{id}}": {
        "POST": Operation(commitment.transfer, "project:edit", {202: CommitmentAnswer}, _ERRORS, _TOKEN)
    },
    "/v1/commitments": {
        "GET": Operation(
            commitment.list_events,
            "cluster:list_commitments",
            {200: CommitmentEventsAnswer},
            parameters=(*SELECTION, *_CHANGES, p.SINCE, p.EVENTS),
        )
    },
    **on_every_level(
        "commitment-summary",
        Operation(
            commitment.show_summary,
            "cluster:list_commitments",
            {200: CommitmentSummaryAnswer},
            parameters=(*SELECTION, p.AHEAD),
        ),
        At("Sums up the commitments of a domain's projects.", "domain:show"),
        At("Sums up the commitments of a project.", "project:show"),
    ),
    "/v1/commitments/by-token": {
        "GET": Operation(
            commitment.show_by_token, "cluster:show_public_commitments", {200: CommitmentAnswer}, (404,), _TOKEN
        )
    },
    "/v1/commitment-conversion/{service_type}/{resource_name}": {
        "GET": Operation(
            commitment.list_conversions, "cluster:show_basic", {200: ConversionsAnswer}, (404, 422), SELECTION
        )
    },
    "/v1/public-commitments": {
        "GET": Operation(
            commitment.list_public, "cluster:show_public_commitments", {200: CommitmentsAnswer}, (), SELECTION
        )
    },
}
"""By path and method."""
