"""The cluster, and what its admins have to look after."""

from limes.actions.reports.cluster import report_cluster
from limes.actions.reports.inconsistencies import find_inconsistencies, find_scrape_errors
from limes.api.answers.cluster import render_cluster, render_inconsistencies, render_scrape_errors
from limes.api.answers.resources import render_resources
from limes.api.call import Call
from limes.core.catalog import Ref
from limes.web.call import Answer


def show(call: Call) -> Answer:
    """Shows capacity, quota and usage. Subcapacities are left out silently for those who may not see them."""
    sees_all = call.allows("cluster:show")
    if not sees_all:
        call.require("cluster:show_basic")

    def may_see_subcapacities(ref: Ref) -> bool:
        return sees_all or call.allows("cluster:show_subcapacity", service=ref[0], resource=ref[1])

    context = call.render_context()
    report = report_cluster(call.limes, call.selection(), per_az_at=context.commitments_at)
    return Answer(document=render_cluster(context, report, may_see_subcapacities))


def list_resources(call: Call) -> Answer:
    """Lists services and resources: names, units, and what commitments to them can be; and preset sizes of quota."""
    return Answer(document=render_resources(call.render_context(), call.selection(), call.limes.quota_sets.values()))


def list_inconsistencies(call: Call) -> Answer:
    """Lists quotas that contradict themselves, usage, or the backends."""
    report = find_inconsistencies(call.limes, call.selection())
    return Answer(document=render_inconsistencies(call.catalog, report))


def list_scrape_errors(call: Call) -> Answer:
    """Lists scrapes that fail, grouped by service type and message."""
    groups = find_scrape_errors(call.limes, call.selection())
    return Answer(document=render_scrape_errors(groups))
