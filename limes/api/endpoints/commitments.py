"""Commitments: of a project, and over all projects."""

from collections.abc import Sequence

import falcon
import orjson

from limes.actions.commitments.ledger import Described
from limes.actions.reports.projects import find_project
from limes.api import parameters
from limes.api.bodies import read_json
from limes.api.collaborators import ApiCollaborators
from limes.api.commitment_bodies import read_commitment, read_transfer
from limes.api.initiator import initiator_of
from limes.api.policy import Access
from limes.api.query import answer_json, selection_of, transfer_token_of
from limes.api.render.commitment import render_plan, render_utilisation
from limes.api.shapes.common import Warned
from limes.core.commitments.commitment import describe
from limes.errors import BadRequest, Forbidden, NotFound

_STATUSES = ("", "unlisted", "public")


def enter(deps: ApiCollaborators, req: falcon.Request, domain_id: str, project_id: str, rule: str) -> Access:
    """Lets the caller in, or raises `Forbidden`, and `NotFound` only for those who are allowed to know."""
    access = Access(deps.policy, req, {"domain_id": domain_id, "project_id": project_id})
    access.require(rule)
    find_project(deps.engine, domain_id, project_id)
    return access


def commitment_number(text: str) -> int:
    """The number in a path. Raises `NotFound` for what is none."""
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise NotFound("no such commitment")
    return int(text)


def answer_commitment(resp: falcon.Response, shown: Described, status: int) -> None:
    """Answers one commitment, with its transfer token if it has one."""
    document = describe(shown.commitment, shown.ref, shown.unit, with_token=True)
    answer_json(resp, {"commitment": document, **_warnings(shown.warnings)}, status)


def _warnings(texts: Sequence[str]) -> Warned:
    return {"warnings": list(texts)} if texts else {}


class ProjectCommitmentsEndpoint:
    """`/v1/domains/{domain_id}/projects/{project_id}/commitments`, new and can-confirm."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_get(self, req: falcon.Request, resp: falcon.Response, domain_id: str, project_id: str) -> None:
        """Lists commitments. `?history` shows those that have ended, too."""
        access = enter(self._deps, req, domain_id, project_id, "project:show")
        found = self._deps.commitments.read.of_project(
            domain_id, project_id, selection_of(self._deps, req), with_history=parameters.HISTORY.of(req)
        )
        may_move = access.allows("project:edit")
        documents = [describe(one.commitment, one.ref, one.unit, with_token=may_move) for one in found]
        answer_json(resp, {"commitments": documents})

    def on_post_new(self, req: falcon.Request, resp: falcon.Response, domain_id: str, project_id: str) -> None:
        """Makes a commitment: 201. An `Idempotency-Key` makes it safe to ask again."""
        enter(self._deps, req, domain_id, project_id, "project:edit")
        key = parameters.IDEMPOTENCY_KEY.of(req)
        if key is not None and not (0 < len(key) <= 255 and key.isascii() and key.isprintable()):
            raise BadRequest("header Idempotency-Key: expected 1 to 255 printable ASCII characters")
        request = read_commitment(read_json(req, self._deps.max_body_size))
        made = self._deps.commitments.create.run(
            domain_id, project_id, request, initiator_of(req, req.context.identity), key
        )
        answer_json(resp, {"commitment": made.document, **_warnings(made.warnings)}, 201)

    def on_post_can_confirm(self, req: falcon.Request, resp: falcon.Response, domain_id: str, project_id: str) -> None:
        """Says whether the same commitment could be made and confirmed at once."""
        enter(self._deps, req, domain_id, project_id, "project:edit")
        request = read_commitment(read_json(req, self._deps.max_body_size))
        result = self._deps.commitments.create.can_confirm(domain_id, project_id, request)
        warnings = self._deps.commitments.warn_before.run(domain_id, project_id, request)
        answer_json(resp, {"result": result, **_warnings(warnings)})

    def on_post_plan(self, req: falcon.Request, resp: falcon.Response, domain_id: str, project_id: str) -> None:
        """Says when the same commitment could be confirmed, from what is known today, and what blocks it."""
        enter(self._deps, req, domain_id, project_id, "project:edit")
        request = read_commitment(read_json(req, self._deps.max_body_size))
        plan = self._deps.commitments.plan.run(domain_id, project_id, request)
        warnings = self._deps.commitments.warn_before.run(domain_id, project_id, request)
        answer_json(resp, {"plan": render_plan(plan), **_warnings(warnings)})

    def on_get_utilisation(self, req: falcon.Request, resp: falcon.Response, domain_id: str, project_id: str) -> None:
        """Shows how well commitments fit what is used, over the last `?days`, and what to commit to."""
        enter(self._deps, req, domain_id, project_id, "project:show")
        found = self._deps.commitments.utilisation.report(
            domain_id, project_id, selection_of(self._deps, req), parameters.DAYS.of(req)
        )
        answer_json(resp, {"utilisation": [render_utilisation(one) for one in found]})


class ProjectCommitmentEndpoint:
    """One commitment of a project, start-transfer, and transfer-commitment of the project that receives it."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_delete(self, req: falcon.Request, resp: falcon.Response, domain_id: str, project_id: str, id: str) -> None:
        """Deletes a commitment: 204."""
        access = Access(self._deps.policy, req, {"domain_id": domain_id, "project_id": project_id, "id": id})
        delete = self._deps.commitments.delete
        as_admin = access.allows("project:uncommit")
        if not as_admin and not (delete.grace and access.allows("project:edit")):
            raise Forbidden("Forbidden")
        delete.run(
            domain_id, project_id, commitment_number(id), initiator_of(req, req.context.identity), as_admin=as_admin
        )
        resp.status = falcon.HTTP_204

    def on_post_start_transfer(
        self,
        req: falcon.Request,
        resp: falcon.Response,
        domain_id: str,
        project_id: str,
        id: str,
    ) -> None:
        """Marks a commitment, or a part of it, for transfer: 202, with the token. An empty status withdraws it."""
        enter(self._deps, req, domain_id, project_id, "project:edit")
        wanted = read_transfer(read_json(req, self._deps.max_body_size))
        if wanted.transfer_status not in _STATUSES:
            answer_json(resp, "Invalid transfer_status code. Must be unlisted or public.", 400)
        elif wanted.amount <= 0:
            answer_json(resp, "Delivered amount needs to be a positive value.", 400)
        else:
            shown = self._deps.commitments.transfer.start(
                domain_id,
                project_id,
                commitment_number(id),
                wanted.amount,
                wanted.transfer_status,
                initiator_of(req, req.context.identity),
            )
            answer_commitment(resp, shown, 202)

    def on_post_transfer(
        self,
        req: falcon.Request,
        resp: falcon.Response,
        domain_id: str,
        project_id: str,
        id: str,
    ) -> None:
        """Takes the commitment of that number and token into the project of the path: 202."""
        enter(self._deps, req, domain_id, project_id, "project:edit")
        token, initiator = transfer_token_of(req), initiator_of(req, req.context.identity)
        shown = self._deps.commitments.transfer.take(domain_id, project_id, commitment_number(id), token, initiator)
        answer_commitment(resp, shown, 202)


class PublicCommitmentsEndpoint:
    """`/v1/public-commitments`."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Lists what is offered to everybody, with the tokens: that is what public means. Not by whom."""
        Access(self._deps.policy, req, {}).require("cluster:show_public_commitments")
        found = self._deps.commitments.read.public(selection_of(self._deps, req))
        documents = [describe(one.commitment, one.ref, one.unit, with_token=True) for one in found]
        for document in documents:
            del document["creator_uuid"], document["creator_name"]
        answer_json(resp, {"commitments": documents})


class OfferedCommitmentEndpoint:
    """`/v1/commitments/by-token`."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Shows the commitment that is marked for transfer with a token, before one takes it.

        The token is not a part of the path: paths are logged.
        """
        Access(self._deps.policy, req, {}).require("cluster:show_public_commitments")
        answer_commitment(resp, self._deps.commitments.read.by_token(transfer_token_of(req)), 200)


class CommitmentEventsEndpoint:
    """`/v1/commitments`: changes over all projects, for billing."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Lists changes after the number `since`, in order. `next` is the `since` of the next request."""
        Access(self._deps.policy, req, {}).require("cluster:list_commitments")
        since = parameters.SINCE.of(req)
        selection = selection_of(self._deps, req)
        found = self._deps.commitments.read.events(since, parameters.EVENTS.of(req), selection)
        events = [
            {
                "number": one.number,
                "at": int(one.at),
                "event": one.event,
                "commitment": orjson.Fragment(one.document),
            }
            for one in found.shown
        ]
        answer_json(resp, {"events": events, "next": found.next})
