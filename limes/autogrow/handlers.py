"""How far quotas grow by themselves."""

from limes.api.call import Call
from limes.api.preconditions import condition_of
from limes.audit.events import What
from limes.autogrow import bodies as autogrow_bodies
from limes.autogrow import set_bounds
from limes.projects.scope import find
from limes.quota.answers import render_refusals, render_warnings, status_of
from limes.web.call import Answer, RequestBody


def limit_project(call: Call) -> Answer:
    """Limits how far quota of a project grows by itself: 202, perhaps with a warning, or what is not acceptable."""
    return _set_bounds(call, What.MAX_QUOTA, autogrow_bodies.ProjectMaxQuotaBody)


def grant_to_project(call: Call) -> Answer:
    """Grants a project quota, however little it uses, or takes that back: 202, or what is not acceptable."""
    return _set_bounds(call, What.MIN_QUOTA, autogrow_bodies.ProjectMinQuotaBody)


def stop_project(call: Call) -> Answer:
    """Forbids, or allows again, that quota of a project grows by itself: 202, or what is not acceptable."""
    return _set_bounds(call, What.FORBID_AUTOGROWTH, autogrow_bodies.ProjectForbidAutogrowthBody)


def limit_projects_of_domain(call: Call) -> Answer:
    """Limits how far quota of each project of a domain grows by itself. Projects that come later have no limit."""
    return _set_bounds(call, What.MAX_QUOTA, autogrow_bodies.DomainMaxQuotaBody)


def stop_projects_of_domain(call: Call) -> Answer:
    """Forbids, or allows again, that quota of the projects of a domain grows by itself. Not of those that come
    later."""
    return _set_bounds(call, What.FORBID_AUTOGROWTH, autogrow_bodies.DomainForbidAutogrowthBody)


def _set_bounds(call: Call, what: What, kind: type[RequestBody]) -> Answer:
    find(call.engine, call.place)  # before anything is said about the body
    bounds = autogrow_bodies.wanted_bounds(getattr(call.body(kind), call.level))
    if call.level == "domain":
        outcome = set_bounds.set_domain_bounds(call.as_caller(), call.place, what, bounds)
    else:
        outcome = set_bounds.set_project_bounds(call.as_caller(), call.place, what, bounds, condition_of(call.req))
    if outcome.refusals:
        return Answer(status_of(outcome, 202), text=render_refusals(outcome, call.level, what.value))
    return Answer(202, text=render_warnings(outcome, "the bounds have")) if outcome.warnings else Answer(202)
