"""How far quota may grow by itself: of a project, and of all projects of a domain."""

from limes.actions.lookup import find_domain, find_project
from limes.api import bodies
from limes.api.answers.quota import render_refusals, render_warnings, status_of
from limes.api.call import Call
from limes.api.preconditions import condition_of
from limes.core.history import What
from limes.web.call import Answer, RequestBody


def limit_project(call: Call) -> Answer:
    """Limits how far quota of a project grows by itself: 202, perhaps with a warning, or what is not acceptable."""
    return _set(call, What.MAX_QUOTA, bodies.ProjectMaxQuotaBody)


def grant_to_project(call: Call) -> Answer:
    """Grants a project quota, however little it uses, or takes that back: 202, or what is not acceptable."""
    return _set(call, What.MIN_QUOTA, bodies.ProjectMinQuotaBody)


def stop_project(call: Call) -> Answer:
    """Forbids, or allows again, that quota of a project grows by itself: 202, or what is not acceptable."""
    return _set(call, What.FORBID_AUTOGROWTH, bodies.ProjectForbidAutogrowthBody)


def limit_projects_of_domain(call: Call) -> Answer:
    """Limits how far quota of each project of a domain grows by itself. Projects that come later have no limit."""
    return _set(call, What.MAX_QUOTA, bodies.DomainMaxQuotaBody)


def stop_projects_of_domain(call: Call) -> Answer:
    """Forbids, or allows again, that quota of the projects of a domain grows by itself. Not of those that come
    later."""
    return _set(call, What.FORBID_AUTOGROWTH, bodies.DomainForbidAutogrowthBody)


def _set(call: Call, what: What, kind: type[RequestBody]) -> Answer:
    """Raises `NotFound` before anything is said about the body."""
    domain_id, project_id = call.params["domain_id"], call.params.get("project_id")
    if project_id is None:
        find_domain(call.engine, domain_id)
    else:
        find_project(call.engine, domain_id, project_id)
    bounds = bodies.wanted_bounds(getattr(call.body(kind), call.level))
    if project_id is None:
        outcome = call.deps.set_autogrow_bounds.of_domain(domain_id, what, bounds, call.initiator())
    else:
        condition = condition_of(call.req)
        outcome = call.deps.set_autogrow_bounds.of_project(
            domain_id, project_id, what, bounds, call.initiator(), condition
        )
    if outcome.refusals:
        return Answer(status_of(outcome, 202), text=render_refusals(outcome, call.level, what.value))
    return Answer(202, text=render_warnings(outcome, "the bounds have")) if outcome.warnings else Answer(202)
