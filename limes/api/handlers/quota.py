"""Quotas of projects and domains: setting and simulating, their history, and explanations."""

from collections.abc import Sequence

from limes.actions.lookup import find_domain, find_project
from limes.actions.quota_changes import QuotaChange, QuotaOutcome
from limes.api import parameters
from limes.api.answers import quota as answers
from limes.api.answers.explanation import ExplanationsAnswer, render_explanation
from limes.api.bodies import DomainQuotaBody, DomainScopeBody, ProjectQuotaBody, ProjectScopeBody, changes_with_set
from limes.api.call import Call
from limes.api.lowpriv_metrics import LowPrivCounter
from limes.api.preconditions import condition_of
from limes.core.catalog import Ref
from limes.db.queries.history import NumberedChange
from limes.errors import BadRequest
from limes.web.call import Answer


def set_domain_quotas(call: Call) -> Answer:
    """Sets quotas: 202, perhaps with a warning, or a text that says what is not acceptable."""
    outcome = _change_domain(call, dry_run=False)
    if outcome.refusals:
        return Answer(answers.status_of(outcome, 202), text=answers.render_refusals(outcome, "domain"))
    return Answer(202, text=answers.render_acceptance(outcome))


def simulate_domain_quotas(call: Call) -> Answer:
    """Says what PUT would answer."""
    outcome = _change_domain(call, dry_run=True)
    return Answer(answers.status_of(outcome, 200), answers.render_simulation(call.catalog, outcome))


def set_project_quotas(call: Call) -> Answer:
    """Sets quotas or switches bursting: 202, or a text that says what is not acceptable."""
    outcome = _change_project(call, dry_run=False)
    if outcome.refusals:
        return Answer(answers.status_of(outcome, 202), text=answers.render_refusals(outcome, "project"))
    return Answer(202, text=answers.render_acceptance(outcome))


def simulate_project_quotas(call: Call) -> Answer:
    """Says what PUT would answer."""
    outcome = _change_project(call, dry_run=True)
    return Answer(answers.status_of(outcome, 200), answers.render_simulation(call.catalog, outcome))


def list_project_changes(call: Call) -> Answer:
    """Lists the changes of a project's quotas and of its bursting, the newest first."""
    limit, before = parameters.CHANGES.of(call.req), parameters.BEFORE.of(call.req)
    domain_id, project_id = call.params["domain_id"], call.params["project_id"]
    return _answer_changes(
        call, call.deps.history.of_project(domain_id, project_id, _selected(call), before, limit), limit
    )


def list_domain_changes(call: Call) -> Answer:
    """Lists the changes of a domain's own quotas, the newest first."""
    limit, before = parameters.CHANGES.of(call.req), parameters.BEFORE.of(call.req)
    domain_id = call.params["domain_id"]
    return _answer_changes(call, call.deps.history.of_domain(domain_id, _selected(call), before, limit), limit)


def explain_project_quotas(call: Call) -> Answer:
    """Says what made a project's quotas what they are, and within which bounds the caller could set them."""
    explanations = call.deps.explain.of_project(
        call.params["domain_id"],
        call.params["project_id"],
        call.selection().refs,
        lambda ref: call.quota_permissions("project", ref),
        with_growth=bool(parameters.RESOURCE.of(call.req)),
    )
    with_origin = call.allows("project:show_history")
    shown = [render_explanation(call.catalog, each, with_origin=with_origin) for each in explanations]
    return Answer(document=ExplanationsAnswer(explanations=shown))


def explain_domain_quotas(call: Call) -> Answer:
    """Says what made a domain's quotas what they are, and within which bounds the caller could set them."""
    explanations = call.deps.explain.of_domain(
        call.params["domain_id"], call.selection().refs, lambda ref: call.quota_permissions("domain", ref)
    )
    with_origin = call.allows("domain:show_history")
    shown = [render_explanation(call.catalog, each, with_origin=with_origin) for each in explanations]
    return Answer(document=ExplanationsAnswer(explanations=shown))


def _change_domain(call: Call, *, dry_run: bool) -> QuotaOutcome:
    domain_id = call.params["domain_id"]
    find_domain(call.engine, domain_id)
    body = call.body(DomainQuotaBody).domain or DomainScopeBody()
    permissions = LowPrivCounter("domain", lambda ref: call.quota_permissions("domain", ref))
    outcome = call.deps.set_domain_quota.run(
        domain_id, _wanted(call, body), permissions, call.initiator(), dry_run=dry_run, condition=condition_of(call.req)
    )
    if not dry_run:
        permissions.count(outcome)
    return outcome


def _change_project(call: Call, *, dry_run: bool) -> QuotaOutcome:
    domain_id, project_id = call.params["domain_id"], call.params["project_id"]
    find_project(call.engine, domain_id, project_id)
    body = call.body(ProjectQuotaBody).project or ProjectScopeBody()
    if body.bursting is not None:
        call.require("project:edit")
        if body.services or body.quota_set is not None:
            raise BadRequest("it is currently not allowed to set bursting.enabled and quotas in the same request")
        errors = call.deps.set_bursting.run(
            domain_id,
            project_id,
            call.initiator(),
            enabled=body.bursting.enabled,
            dry_run=dry_run,
            condition=condition_of(call.req),
        )
        return QuotaOutcome(backend_errors=errors)
    permissions = LowPrivCounter("project", lambda ref: call.quota_permissions("project", ref))
    outcome = call.deps.set_project_quota.run(
        domain_id,
        project_id,
        _wanted(call, body),
        permissions,
        call.initiator(),
        dry_run=dry_run,
        condition=condition_of(call.req),
    )
    if not dry_run:
        permissions.count(outcome)
    return outcome


def _wanted(call: Call, body: DomainScopeBody) -> list[QuotaChange]:
    return changes_with_set(call.limes.quota_sets, body.quota_set, body.services or ())[0]


def _selected(call: Call) -> list[Ref] | None:
    """The selected resources; None for all of them."""
    selection = call.selection()
    return None if selection.is_whole(call.catalog) else selection.refs


def _answer_changes(call: Call, changes: Sequence[NumberedChange], limit: int) -> Answer:
    links = call.next_link(str(changes[-1].number)) if len(changes) == limit else []
    history = [answers.render_change(call.catalog, change) for change in changes]
    return Answer(document=answers.HistoryAnswer(history=history, history_links=links))
