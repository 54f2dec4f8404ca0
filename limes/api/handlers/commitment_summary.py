"""What is committed to, by resource and availability zone."""

from limes.actions.reports.attention import Where
from limes.actions.reports.commitment_summary import SummarizeCommitments
from limes.api import parameters
from limes.api.call import Call
from limes.api.render.commitment import render_summary
from limes.web.call import Answer


def show_summary(call: Call) -> Answer:
    """Sums up the commitments of all projects by resource and availability zone: used, unused, and ending soon."""
    return _summary(call)


def show_summary_of_domain(call: Call) -> Answer:
    """Sums up the commitments of a domain's projects."""
    return _summary(call)


def show_summary_of_project(call: Call) -> Answer:
    """Sums up the commitments of a project."""
    return _summary(call)


def _summary(call: Call) -> Answer:
    where = Where(call.params.get("domain_id"), call.params.get("project_id"))
    now, days = call.deps.clock.now().timestamp(), parameters.AHEAD.of(call.req)
    summaries = SummarizeCommitments(call.engine, call.catalog).run(where, call.selection(), now, days)
    return Answer(document={"commitment_summary": [render_summary(each) for each in summaries]})
