"""How far quota may grow by itself: of a project, and of all projects of a domain."""

from limes.actions.lookup import find_domain, find_project
from limes.actions.quota_changes import QuotaOutcome
from limes.actions.set_autogrow_bounds import WantedBound
from limes.api.answers.quota import render_refusals, render_warnings, status_of
from limes.api.bodies import (
    DomainForbidAutogrowthBody,
    DomainMaxQuotaBody,
    ProjectForbidAutogrowthBody,
    ProjectMaxQuotaBody,
    ProjectMinQuotaBody,
    wanted_bounds,
)
from limes.api.call import Call
from limes.api.preconditions import condition_of
from limes.core.history import What
from limes.web.call import Answer


def limit_project(call: Call) -> Answer:
    """Limits how far quota of a project grows by itself: 202, perhaps with a warning, or what is not acceptable."""
    _find_project(call)
    return _set_of_project(call, What.MAX_QUOTA, wanted_bounds(call.body(ProjectMaxQuotaBody).project))


def grant_to_project(call: Call) -> Answer:
    """Grants a project quota, however little it uses, or takes that back: 202, or what is not acceptable."""
    _find_project(call)
    return _set_of_project(call, What.MIN_QUOTA, wanted_bounds(call.body(ProjectMinQuotaBody).project))


def stop_project(call: Call) -> Answer:
    """Forbids, or allows again, that quota of a project grows by itself: 202, or what is not acceptable."""
    _find_project(call)
    return _set_of_project(call, What.FORBID_AUTOGROWTH, wanted_bounds(call.body(ProjectForbidAutogrowthBody).project))


def limit_projects_of_domain(call: Call) -> Answer:
    """Limits how far quota of each project of a domain grows by itself. Projects that come later have no limit."""
    find_domain(call.engine, call.params["domain_id"])
    return _set_of_domain(call, What.MAX_QUOTA, wanted_bounds(call.body(DomainMaxQuotaBody).domain))


def stop_projects_of_domain(call: Call) -> Answer:
    """Forbids, or allows again, that quota of the projects of a domain grows by itself. Not of those that come
    later."""
    find_domain(call.engine, call.params["domain_id"])
    return _set_of_domain(call, What.FORBID_AUTOGROWTH, wanted_bounds(call.body(DomainForbidAutogrowthBody).domain))


def _find_project(call: Call) -> None:
    """Raises `NotFound`, before anything is said about the body."""
    find_project(call.engine, call.params["domain_id"], call.params["project_id"])


def _set_of_project(call: Call, what: What, bounds: list[WantedBound]) -> Answer:
    outcome = call.deps.set_autogrow_bounds.of_project(
        call.params["domain_id"], call.params["project_id"], what, bounds, call.initiator(), condition_of(call.req)
    )
    return _answer(outcome, "project", what)


def _set_of_domain(call: Call, what: What, bounds: list[WantedBound]) -> Answer:
    outcome = call.deps.set_autogrow_bounds.of_domain(call.params["domain_id"], what, bounds, call.initiator())
    return _answer(outcome, "domain", what)


def _answer(outcome: QuotaOutcome, level: str, what: What) -> Answer:
    if outcome.refusals:
        return Answer(status_of(outcome, 202), text=render_refusals(outcome, level, what.value))
    return Answer(202, text=render_warnings(outcome, "the bounds have")) if outcome.warnings else Answer(202)
