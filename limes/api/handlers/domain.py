"""Domains: reports, and their discovery."""

from limes.actions.reports.domains import ReportDomains
from limes.api.call import Call
from limes.api.preconditions import answer_tagged
from limes.api.render.domain import render_domain
from limes.api.shapes.project import DomainsAnswer
from limes.web.call import Answer


def list_domains(call: Call) -> Answer:
    """Lists all domains, or a page of them."""
    page, context = call.page(), call.render_context()
    reports = ReportDomains(call.engine, call.catalog).all(call.selection(), page, per_az_at=context.commitments_at)
    document: DomainsAnswer = {"domains": [render_domain(context, report) for report in reports]}
    links = call.next_page(page, [report.domain.uuid for report in reports])
    if links is not None:
        document["domains_links"] = links
    return Answer(document=document)


def show(call: Call) -> Answer:
    """Shows a domain."""
    context = call.render_context()
    report = ReportDomains(call.engine, call.catalog).run(
        call.params["domain_id"], call.selection(), per_az_at=context.commitments_at
    )
    return answer_tagged(call.req, report.tag, lambda: {"domain": render_domain(context, report)})


def discover(call: Call) -> Answer:
    """Looks for new domains in Keystone: 204 if there are none, else 202 and their ids."""
    uuids = call.deps.discover_domains(call.initiator())
    return Answer(202, {"new_domains": [{"id": uuid} for uuid in uuids]}) if uuids else Answer(204)
