"""Making other commitments of those that a project has."""

import falcon

from limes.api.bodies import parse_body, read_json
from limes.api.collaborators import ApiCollaborators
from limes.api.commitment_bodies import DurationBody, MergeBody, read_conversion
from limes.api.endpoints.commitments import answer_commitment, commitment_number, enter
from limes.api.initiator import initiator_of
from limes.api.policy import Access
from limes.api.query import answer_json, selection_of
from limes.api.render.commitment import render_rates


class ReshapeEndpoint:
    """Merge, renew, update-duration and convert, below a project's commitments."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_post_merge(self, req: falcon.Request, resp: falcon.Response, domain_id: str, project_id: str) -> None:
        """Makes one of several: 202."""
        enter(self._deps, req, domain_id, project_id, "project:edit")
        body = parse_body(MergeBody, read_json(req, self._deps.max_body_size))
        shown = self._deps.commitments.reshape.merge(
            domain_id, project_id, body.commitment_ids, initiator_of(req, req.context.identity)
        )
        answer_commitment(resp, shown, 202)

    def on_post_renew(
        self, req: falcon.Request, resp: falcon.Response, domain_id: str, project_id: str, id: str
    ) -> None:
        """Makes the one that follows: 202."""
        enter(self._deps, req, domain_id, project_id, "project:edit")
        shown = self._deps.commitments.reshape.renew(
            domain_id, project_id, commitment_number(id), initiator_of(req, req.context.identity)
        )
        answer_commitment(resp, shown, 202)

    def on_post_duration(
        self, req: falcon.Request, resp: falcon.Response, domain_id: str, project_id: str, id: str
    ) -> None:
        """Lets it last longer: 200."""
        enter(self._deps, req, domain_id, project_id, "project:edit")
        body = parse_body(DurationBody, read_json(req, self._deps.max_body_size))
        number = commitment_number(id)
        shown = self._deps.commitments.reshape.change_duration(
            domain_id, project_id, number, body.duration, initiator_of(req, req.context.identity)
        )
        answer_commitment(resp, shown, 200)

    def on_post_convert(
        self, req: falcon.Request, resp: falcon.Response, domain_id: str, project_id: str, id: str
    ) -> None:
        """Makes it one of another resource: 202."""
        enter(self._deps, req, domain_id, project_id, "project:edit")
        wanted = read_conversion(read_json(req, self._deps.max_body_size))
        shown = self._deps.commitments.reshape.convert(
            domain_id, project_id, commitment_number(id), wanted, initiator_of(req, req.context.identity)
        )
        answer_commitment(resp, shown, 202)


class ConversionRatesEndpoint:
    """`/v1/commitment-conversion/{service_type}/{resource_name}`."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_get(self, req: falcon.Request, resp: falcon.Response, service_type: str, resource_name: str) -> None:
        """Lists what commitments of a resource can be converted to. The selection is of the targets."""
        Access(self._deps.policy, req, {}).require("cluster:show_basic")
        rates = self._deps.commitments.reshape.conversions((service_type, resource_name))
        wanted = set(selection_of(self._deps, req).refs)
        answer_json(resp, render_rates({target: rate for target, rate in rates.items() if target in wanted}))
