"""Quotas of projects and domains: setting and simulating, how far they grow by themselves, history, explanations."""

from limes.actions.change_log import list_changes
from limes.actions.explain_quota import explain_quotas
from limes.actions.lookup import find
from limes.actions.quota_changes import QuotaOutcome
from limes.actions.set_autogrow_bounds import set_domain_bounds, set_project_bounds
from limes.actions.set_quota import set_bursting, set_quotas
from limes.api import bodies, parameters
from limes.api.answers import quota as answers
from limes.api.answers.explanation import ExplanationsAnswer, render_explanation
from limes.api.answers.quota import render_refusals, render_warnings, status_of
from limes.api.bodies import DomainQuotaBody, DomainScopeBody, ProjectQuotaBody, ProjectScopeBody, changes_with_set
from limes.api.call import Call, condition_of
from limes.api.lowpriv_metrics import count_lowpriv
from limes.core.history import What
from limes.errors import BadRequest
from limes.web.call import Answer, RequestBody


def set_domain_quotas(call: Call) -> Answer:
    """Sets quotas: 202, perhaps with a warning, or a text that says what is not acceptable."""
    return _set(call, _change_domain(call, dry_run=False))


def simulate_domain_quotas(call: Call) -> Answer:
    """Says what PUT would answer."""
    return _simulate(call, _change_domain(call, dry_run=True))


def set_project_quotas(call: Call) -> Answer:
    """Sets quotas or switches bursting: 202, or a text that says what is not acceptable."""
    return _set(call, _change_project(call, dry_run=False))


def simulate_project_quotas(call: Call) -> Answer:
    """Says what PUT would answer."""
    return _simulate(call, _change_project(call, dry_run=True))


def list_project_changes(call: Call) -> Answer:
    """Lists the changes of a project's quotas and of its bursting, the newest first."""
    return _list_changes(call)


def list_domain_changes(call: Call) -> Answer:
    """Lists the changes of a domain's own quotas, the newest first."""
    return _list_changes(call)


def explain_project_quotas(call: Call) -> Answer:
    """Says what made a project's quotas what they are, and within which bounds the caller could set them."""
    return _explain(call, with_growth=bool(parameters.RESOURCE.of(call.req)))


def explain_domain_quotas(call: Call) -> Answer:
    """Says what made a domain's quotas what they are, and within which bounds the caller could set them."""
    return _explain(call)


def _change_domain(call: Call, *, dry_run: bool) -> QuotaOutcome:
    find(call.engine, call.place)
    return _change_quotas(call, call.body(DomainQuotaBody).domain or DomainScopeBody(), dry_run=dry_run)


def _change_project(call: Call, *, dry_run: bool) -> QuotaOutcome:
    find(call.engine, call.place)
    body = call.body(ProjectQuotaBody).project or ProjectScopeBody()
    if body.bursting is None:
        return _change_quotas(call, body, dry_run=dry_run)
    call.require("project:edit")
    if body.services or body.quota_set is not None:
        raise BadRequest("it is currently not allowed to set bursting.enabled and quotas in the same request")
    enabled, condition = body.bursting.enabled, condition_of(call.req)
    errors = set_bursting(call.as_caller(), call.place, enabled=enabled, dry_run=dry_run, condition=condition)
    return QuotaOutcome(backend_errors=errors)


def _change_quotas(call: Call, body: DomainScopeBody, *, dry_run: bool) -> QuotaOutcome:
    changes, _ = changes_with_set(call.limes.quota_sets, body.quota_set, body.services or ())
    permissions = call.quota_permissions(change.ref for change in changes)
    condition = condition_of(call.req)
    outcome = set_quotas(call.as_caller(), call.place, changes, permissions, dry_run=dry_run, condition=condition)
    if not dry_run:
        count_lowpriv(call.level, permissions, outcome)
    return outcome


def _set(call: Call, outcome: QuotaOutcome) -> Answer:
    if outcome.refusals:
        return Answer(answers.status_of(outcome, 202), text=answers.render_refusals(outcome, call.level))
    return Answer(202, text=answers.render_acceptance(outcome))


def _simulate(call: Call, outcome: QuotaOutcome) -> Answer:
    return Answer(answers.status_of(outcome, 200), answers.render_simulation(call.catalog, outcome))


def _list_changes(call: Call) -> Answer:
    limit, before, selection = parameters.CHANGES.of(call.req), parameters.BEFORE.of(call.req), call.selection()
    refs = None if selection.is_whole(call.catalog) else selection.refs
    changes = list_changes(call.limes, call.place, refs, before, limit)
    links = call.next_link(str(changes[-1].number)) if len(changes) == limit else []
    history = [answers.render_change(call.catalog, change) for change in changes]
    return Answer(document=answers.HistoryAnswer(history=history, history_links=links))


def _explain(call: Call, *, with_growth: bool = False) -> Answer:
    permissions = call.quota_permissions(call.selection().refs)
    explanations = explain_quotas(call.limes, call.place, permissions, with_growth=with_growth)
    with_origin = call.allows(f"{call.level}:show_history")
    shown = [render_explanation(call.catalog, each, with_origin=with_origin) for each in explanations]
    return Answer(document=ExplanationsAnswer(explanations=shown))


def limit_project(call: Call) -> Answer:
    """Limits how far quota of a project grows by itself: 202, perhaps with a warning, or what is not acceptable."""
    return _set_bounds(call, What.MAX_QUOTA, bodies.ProjectMaxQuotaBody)


def grant_to_project(call: Call) -> Answer:
    """Grants a project quota, however little it uses, or takes that back: 202, or what is not acceptable."""
    return _set_bounds(call, What.MIN_QUOTA, bodies.ProjectMinQuotaBody)


def stop_project(call: Call) -> Answer:
    """Forbids, or allows again, that quota of a project grows by itself: 202, or what is not acceptable."""
    return _set_bounds(call, What.FORBID_AUTOGROWTH, bodies.ProjectForbidAutogrowthBody)


def limit_projects_of_domain(call: Call) -> Answer:
    """Limits how far quota of each project of a domain grows by itself. Projects that come later have no limit."""
    return _set_bounds(call, What.MAX_QUOTA, bodies.DomainMaxQuotaBody)


def stop_projects_of_domain(call: Call) -> Answer:
    """Forbids, or allows again, that quota of the projects of a domain grows by itself. Not of those that come
    later."""
    return _set_bounds(call, What.FORBID_AUTOGROWTH, bodies.DomainForbidAutogrowthBody)


def _set_bounds(call: Call, what: What, kind: type[RequestBody]) -> Answer:
    find(call.engine, call.place)  # before anything is said about the body
    bounds = bodies.wanted_bounds(getattr(call.body(kind), call.level))
    if call.level == "domain":
        outcome = set_domain_bounds(call.as_caller(), call.place, what, bounds)
    else:
        outcome = set_project_bounds(call.as_caller(), call.place, what, bounds, condition_of(call.req))
    if outcome.refusals:
        return Answer(status_of(outcome, 202), text=render_refusals(outcome, call.level, what.value))
    return Answer(202, text=render_warnings(outcome, "the bounds have")) if outcome.warnings else Answer(202)
