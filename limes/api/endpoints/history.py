"""History and explanations of the quotas of projects and domains."""

from collections.abc import Sequence
from urllib.parse import urlencode

import falcon

from limes.api import parameters
from limes.api.collaborators import ApiCollaborators
from limes.api.policy import Access
from limes.api.query import answer_json, selection_of
from limes.api.render.history import render_change, render_explanation
from limes.core.catalog import Ref
from limes.db.queries.history import NumberedChange


class HistoryEndpoint:
    """`.../history` and `.../explain` of a project, and the same of a domain."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_get_project(self, req: falcon.Request, resp: falcon.Response, domain_id: str, project_id: str) -> None:
        """Lists the changes of a project's quotas and of its bursting, the newest first."""
        self._access(req, domain_id=domain_id, project_id=project_id).require("project:show_history")
        limit, before = parameters.CHANGES.of(req), parameters.BEFORE.of(req)
        found = self._deps.history.of_project(domain_id, project_id, self._refs(req), before, limit)
        self._answer(req, resp, found, limit)

    def on_get_domain(self, req: falcon.Request, resp: falcon.Response, domain_id: str) -> None:
        """Lists the changes of a domain's own quotas, the newest first."""
        self._access(req, domain_id=domain_id).require("domain:show_history")
        limit, before = parameters.CHANGES.of(req), parameters.BEFORE.of(req)
        self._answer(req, resp, self._deps.history.of_domain(domain_id, self._refs(req), before, limit), limit)

    def on_get_explain_project(
        self, req: falcon.Request, resp: falcon.Response, domain_id: str, project_id: str
    ) -> None:
        """Says what made a project's quotas what they are, and within which bounds the caller could set them."""
        access = self._access(req, domain_id=domain_id, project_id=project_id)
        access.require("project:show")
        refs = selection_of(self._deps, req).refs
        found = self._deps.explain.of_project(
            domain_id, project_id, refs, lambda ref: access.quota_permissions("project", ref)
        )
        with_origin = access.allows("project:show_history")
        documents = [render_explanation(self._deps.catalog, one, with_origin=with_origin) for one in found]
        answer_json(resp, {"explanations": documents})

    def on_get_explain_domain(self, req: falcon.Request, resp: falcon.Response, domain_id: str) -> None:
        """Says what made a domain's quotas what they are, and within which bounds the caller could set them."""
        access = self._access(req, domain_id=domain_id)
        access.require("domain:show")
        refs = selection_of(self._deps, req).refs
        found = self._deps.explain.of_domain(domain_id, refs, lambda ref: access.quota_permissions("domain", ref))
        with_origin = access.allows("domain:show_history")
        documents = [render_explanation(self._deps.catalog, one, with_origin=with_origin) for one in found]
        answer_json(resp, {"explanations": documents})

    def _access(self, req: falcon.Request, **path: str) -> Access:
        return Access(self._deps.policy, req, path)

    def _refs(self, req: falcon.Request) -> list[Ref] | None:
        selection = selection_of(self._deps, req)
        return None if selection.is_whole(self._deps.catalog) else selection.refs

    def _answer(self, req: falcon.Request, resp: falcon.Response, found: Sequence[NumberedChange], limit: int) -> None:
        links = []
        if len(found) == limit:
            query = {**req.params, parameters.BEFORE.name: str(found[-1].number)}
            links.append({"rel": "next", "href": f"{req.path}?{urlencode(query, doseq=True)}"})
        documents = [render_change(self._deps.catalog, one) for one in found]
        answer_json(resp, {"history": documents, "history_links": links})
