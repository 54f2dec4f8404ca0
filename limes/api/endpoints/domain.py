"""The domain level."""

import falcon

from limes.actions.quota import QuotaOutcome
from limes.actions.reports import domains as report_domains
from limes.api.bodies import quota_changes, read_domain_quotas, read_json
from limes.api.collaborators import ApiCollaborators
from limes.api.initiator import initiator_of
from limes.api.lowpriv_metrics import LowPrivCounter
from limes.api.policy import Access
from limes.api.preconditions import answer_unchanged, condition_of
from limes.api.query import answer_json, next_link, page_of, render_context_of, selection_of
from limes.api.render.domain import render_domain
from limes.api.render.quota import render_refusals, render_simulation, render_warnings, status_of
from limes.api.shapes.reports import DomainsAnswer
from limes.web.errors import answer_text


class DomainListEndpoint:
    """`/v1/domains`."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Lists all domains, or a page of them."""
        Access(self._deps.policy, req, {}).require("domain:list")
        page = page_of(req)
        context = render_context_of(self._deps, req)
        selection = selection_of(self._deps, req)
        reports = report_domains.run_all(self._deps.engine, selection, page, per_az_at=context.commitments_at)
        document: DomainsAnswer = {"domains": [render_domain(context, report) for report in reports]}
        links = next_link(req, page, [report.domain.uuid for report in reports])
        if links is not None:
            document["domains_links"] = links
        answer_json(resp, document)


class DomainDiscoverEndpoint:
    """`/v1/domains/discover`."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_post(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Looks for new domains in Keystone: 204 if there are none, else 202 and their ids."""
        Access(self._deps.policy, req, {}).require("domain:discover")
        found = self._deps.discover_domains(initiator_of(req, req.context.identity))
        if found:
            answer_json(resp, {"new_domains": [{"id": uuid} for uuid in found]}, status=202)
        else:
            resp.status = falcon.HTTP_204


class DomainEndpoint:
    """`/v1/domains/{domain_id}` and its simulate-put."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_get(self, req: falcon.Request, resp: falcon.Response, domain_id: str) -> None:
        """Shows a domain."""
        Access(self._deps.policy, req, {"domain_id": domain_id}).require("domain:show")
        context = render_context_of(self._deps, req)
        report = report_domains.run_one(
            self._deps.engine,
            self._deps.catalog,
            selection_of(self._deps, req),
            domain_id,
            per_az_at=context.commitments_at,
        )
        if not answer_unchanged(req, resp, report.tag):
            answer_json(resp, {"domain": render_domain(context, report)})

    def on_put(self, req: falcon.Request, resp: falcon.Response, domain_id: str) -> None:
        """Sets quotas: 202, perhaps with a warning, or a text that says what is not acceptable."""
        outcome = self._set(req, domain_id, dry_run=False)
        if outcome.refusals:
            answer_text(resp, status_of(outcome, 202), render_refusals(outcome, "domain"))
        elif outcome.warnings:
            answer_text(resp, 202, render_warnings(outcome))
        else:
            resp.status = falcon.HTTP_202

    def on_post_simulate(self, req: falcon.Request, resp: falcon.Response, domain_id: str) -> None:
        """Says what PUT would answer."""
        outcome = self._set(req, domain_id, dry_run=True)
        answer_json(resp, render_simulation(outcome), status_of(outcome, 200))

    def _set(self, req: falcon.Request, domain_id: str, *, dry_run: bool) -> QuotaOutcome:
        access = Access(self._deps.policy, req, {"domain_id": domain_id})
        access.require("domain:show")
        report_domains.find_domain(self._deps.engine, domain_id)
        body = read_domain_quotas(read_json(req, self._deps.max_body_size))
        permissions = LowPrivCounter("domain", lambda ref: access.quota_permissions("domain", ref))
        outcome = self._deps.set_domain_quota.run(
            domain_id,
            quota_changes(body.services or ()),
            permissions,
            initiator_of(req, req.context.identity),
            dry_run=dry_run,
            condition=condition_of(req),
        )
        if not dry_run:
            permissions.count(outcome)
        return outcome
