"""Rules that approve requests for quota, and that no project in the database is the right one for."""

from collections.abc import Iterator

from limes.db.engine import Engine
from limes.db.queries.projects import project_scopes
from limes.doctor.finding import Context, Finding, ok, warning


def check_approvals(name: str, context: Context, engine: Engine) -> Iterator[Finding]:
    """Looks whether each `scope` matches a project; the check of the configuration names the other rules without
    effect. `name` begins the findings' names."""
    rules = [rule for rule in context.settings.quota_requests.auto_approval if rule.scope is not None]
    if not rules:
        return
    scopes = engine.snapshot(lambda: project_scopes(engine))
    if not scopes:
        return  # nothing was discovered yet
    check = f"{name}.auto_approval"
    useless = [
        rule for rule in rules if rule.scope is not None and not any(rule.scope.fullmatch(scope) for scope in scopes)
    ]
    for rule in useless:
        pattern = rule.scope.pattern if rule.scope else ""
        text = f"quota_requests.auto_approval: the scope {pattern!r} of the rule {rule.name} matches no project"
        yield warning(check, text, f"it has to match the whole of domain/project, such as {scopes[0]!r}")
    if not useless:
        yield ok(check, "rules that approve requests: each scope matches a project")
