"""The project level."""

import falcon

from limes.actions.quota import QuotaOutcome
from limes.actions.reports import projects as report_projects
from limes.api.bodies import quota_changes, read_json, read_project_quotas
from limes.api.collaborators import ApiCollaborators
from limes.api.initiator import initiator_of
from limes.api.lowpriv_metrics import LowPrivCounter
from limes.api.policy import Access
from limes.api.preconditions import answer_unchanged, condition_of
from limes.api.query import answer_json, next_link, page_of, render_context_of, selection_of
from limes.api.render.project import ProjectRenderer
from limes.api.render.quota import render_backend_errors, render_refusals, render_simulation, status_of
from limes.errors import BadRequest
from limes.web.errors import answer_text
from limes.web.json import dump_items, dump_part


class ProjectListEndpoint:
    """`/v1/domains/{domain_id}/projects`."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_get(self, req: falcon.Request, resp: falcon.Response, domain_id: str) -> None:
        """Lists the projects of a domain, or a page of them."""
        Access(self._deps.policy, req, {"domain_id": domain_id}).require("project:list")
        context, selection = render_context_of(self._deps, req), selection_of(self._deps, req)
        page = page_of(req)
        reports = report_projects.run_all(
            self._deps.engine,
            self._deps.catalog,
            selection,
            domain_id,
            with_azs=context.with_azs,
            commitments_at=context.commitments_at,
            stale_before=context.stale_before,
            page=page,
        )
        renderer = ProjectRenderer(context, selection)
        parts = dump_items(renderer.render(report) for report in reports)
        resp.content_type = falcon.MEDIA_JSON
        links = next_link(req, page, [report.project.uuid for report in reports])
        tail = b"" if links is None else b',"projects_links":' + dump_part(links)
        resp.data = b"".join([b'{"projects":[', *parts, b"]", tail, b"}\n"])


class ProjectDiscoverEndpoint:
    """`/v1/domains/{domain_id}/projects/discover`."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_post(self, req: falcon.Request, resp: falcon.Response, domain_id: str) -> None:
        """Looks for new projects in Keystone: 204 if there are none, else 202 and their ids."""
        Access(self._deps.policy, req, {"domain_id": domain_id}).require("project:discover")
        found = self._deps.discover_projects(domain_id, initiator_of(req, req.context.identity))
        if found:
            answer_json(resp, {"new_projects": [{"id": uuid} for uuid in found]}, status=202)
        else:
            resp.status = falcon.HTTP_204


class ProjectEndpoint:
    """`/v1/domains/{domain_id}/projects/{project_id}`, its simulate-put and its sync."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_get(self, req: falcon.Request, resp: falcon.Response, domain_id: str, project_id: str) -> None:
        """Shows a project."""
        self._access(req, domain_id, project_id).require("project:show")
        context, selection = render_context_of(self._deps, req), selection_of(self._deps, req)
        report = report_projects.run_one(
            self._deps.engine,
            self._deps.catalog,
            selection,
            domain_id,
            project_id,
            with_azs=context.with_azs,
            commitments_at=context.commitments_at,
            stale_before=context.stale_before,
        )
        if not answer_unchanged(req, resp, report.tag):
            answer_json(resp, {"project": ProjectRenderer(context, selection).render(report)})

    def on_put(self, req: falcon.Request, resp: falcon.Response, domain_id: str, project_id: str) -> None:
        """Sets quotas or switches bursting: 202, or a text that says what is not acceptable."""
        outcome = self._set(req, domain_id, project_id, dry_run=False)
        if outcome.refusals:
            answer_text(resp, status_of(outcome, 202), render_refusals(outcome, "project"))
        elif outcome.backend_errors:
            answer_text(resp, 202, render_backend_errors(outcome))
        else:
            resp.status = falcon.HTTP_202

    def on_post_simulate(self, req: falcon.Request, resp: falcon.Response, domain_id: str, project_id: str) -> None:
        """Says what PUT would answer."""
        outcome = self._set(req, domain_id, project_id, dry_run=True)
        answer_json(resp, render_simulation(outcome), status_of(outcome, 200))

    def on_post_sync(self, req: falcon.Request, resp: falcon.Response, domain_id: str, project_id: str) -> None:
        """Asks for a scrape as soon as possible: 202 without a body."""
        self._access(req, domain_id, project_id).require("project:sync")
        self._deps.request_sync(domain_id, project_id, initiator_of(req, req.context.identity))
        resp.status = falcon.HTTP_202

    def _access(self, req: falcon.Request, domain_id: str, project_id: str) -> Access:
        return Access(self._deps.policy, req, {"domain_id": domain_id, "project_id": project_id})

    def _set(self, req: falcon.Request, domain_id: str, project_id: str, *, dry_run: bool) -> QuotaOutcome:
        access, initiator = self._access(req, domain_id, project_id), initiator_of(req, req.context.identity)
        access.require("project:show")
        report_projects.find_project(self._deps.engine, domain_id, project_id)
        body = read_project_quotas(read_json(req, self._deps.max_body_size))
        if body.bursting is not None:
            access.require("project:edit")
            if body.services:
                raise BadRequest("it is currently not allowed to set bursting.enabled and quotas in the same request")
            errors = self._deps.set_bursting.run(
                domain_id,
                project_id,
                initiator,
                enabled=body.bursting.enabled,
                dry_run=dry_run,
                condition=condition_of(req),
            )
            return QuotaOutcome(backend_errors=errors)
        permissions = LowPrivCounter("project", lambda ref: access.quota_permissions("project", ref))
        outcome = self._deps.set_project_quota.run(
            domain_id,
            project_id,
            quota_changes(body.services or ()),
            permissions,
            initiator,
            dry_run=dry_run,
            condition=condition_of(req),
        )
        if not dry_run:
            permissions.count(outcome)
        return outcome
