"""Quotas of projects and domains: setting and simulating."""

from collections.abc import Mapping

from prometheus_client import Gauge

from limes.api import policy, preconditions
from limes.api.call import Call
from limes.catalog.catalog import Ref
from limes.kernel.errors import BadRequest
from limes.projects.scope import Target, find
from limes.quota import answers, bodies, hierarchy, rules, set_quota
from limes.quota.changes import QuotaOutcome
from limes.web.call import Answer

# prometheus-client would append `_total` to the names of counters. A gauge that is summed over all workers, those that
# have ended included, shows the same numbers under the old names.
_COUNTS = {
    (level, outcome): Gauge(
        f"limes_low_privilege_raise_{level}_{outcome}",
        f"Low-privilege raises of {level} quota that {verb}",
        ["service", "resource"],
        multiprocess_mode="sum",
    )
    for level in ("project", "domain")
    for outcome, verb in (("success", "succeeded"), ("failure", "failed"))
}


def count_lowpriv(level: str, permissions: Mapping[Ref, rules.Permissions], outcome: QuotaOutcome) -> None:
    """Counts what was raised with the low-privilege permission alone, and what was above its limit. `level` is
    `project` or `domain`."""
    lowpriv = {ref for ref, each in permissions.items() if each.can_raise_lowpriv and not each.can_raise}
    for change in outcome.changed:
        if change.ref in lowpriv and change.new > change.old:
            _COUNTS[level, "success"].labels(*change.ref).inc()
    for ref, refusal in outcome.refusals.items():
        above_limit = refusal.kind is hierarchy.RefusalKind.FORBIDDEN and refusal.maximum is not None
        if ref in lowpriv and above_limit:
            _COUNTS[level, "failure"].labels(*ref).inc()


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


def _change_domain(call: Call, *, dry_run: bool) -> QuotaOutcome:
    domain = find(call.engine, call.place)
    body = call.body(bodies.DomainQuotaBody).domain or bodies.DomainScopeBody()
    return _change_quotas(call, domain, body, dry_run=dry_run)


def _change_project(call: Call, *, dry_run: bool) -> QuotaOutcome:
    project = find(call.engine, call.place)
    body = call.body(bodies.ProjectQuotaBody).project or bodies.ProjectScopeBody()
    if body.bursting is None:
        return _change_quotas(call, project, body, dry_run=dry_run)
    call.require("project:edit")
    if body.services or body.quota_set is not None:
        raise BadRequest("it is currently not allowed to set bursting.enabled and quotas in the same request")
    enabled, condition = body.bursting.enabled, preconditions.condition_of(call.req)
    errors = set_quota.set_bursting(call.as_caller(), call.place, enabled=enabled, dry_run=dry_run, condition=condition)
    return QuotaOutcome(backend_errors=errors)


def _change_quotas(call: Call, target: Target, body: bodies.DomainScopeBody, *, dry_run: bool) -> QuotaOutcome:
    changes, _ = bodies.changes_with_set(call.limes.quota_sets, body.quota_set, body.services or ())
    permissions = call.quota_permissions(change.ref for change in changes)
    condition = preconditions.condition_of(call.req)
    outcome = set_quota.set_quotas(call.as_caller(), target, changes, permissions, dry_run=dry_run, condition=condition)
    if not dry_run:
        count_lowpriv(call.level, permissions, outcome)
    return outcome


def _who_raises(call: Call) -> str:
    """Returns the way out of a refusal."""
    any_resource = {"service_type": "", "resource_name": ""}
    needed = policy.needed_roles(call.deps.policy, f"{call.level}:raise", {**call.target, **any_resource})
    who = f"users with {needed}" if needed else "those whom the policy allows it"
    return f"quotas of a {call.level} are changed by {who}; a quota request asks them for more"


def _set(call: Call, outcome: QuotaOutcome) -> Answer:
    if outcome.refusals:
        status, text = answers.status_of(outcome, 202), answers.render_refusals(outcome, call.level)
        may_raise = all(call.permissions(ref).can_raise for ref in outcome.refusals)
        return Answer(status, text=text if may_raise or status != 403 else f"{text}\n{_who_raises(call)}")
    return Answer(202, text=answers.render_acceptance(outcome))


def _simulate(call: Call, outcome: QuotaOutcome) -> Answer:
    return Answer(answers.status_of(outcome, 200), answers.render_simulation(call.catalog, outcome))
