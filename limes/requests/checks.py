"""What `limes doctor` examines: whether rules that approve requests match any project."""

from collections.abc import Iterator

from limes.app.context import Limes
from limes.kernel.findings import Finding, ok, warning
from limes.projects.queries import project_scopes


def check_approvals(name: str, limes: Limes) -> Iterator[Finding]:
    """Rules that approve requests for quota, and whose `scope` matches no project; the check of the configuration
    names the other rules without effect."""
    name, rules = f"{name}.auto_approval", limes.settings.quota_requests.auto_approval
    patterns = [(rule.name, rule.scope) for rule in rules if rule.scope is not None]
    scopes = limes.engine.snapshot(lambda: project_scopes(limes.engine)) if patterns else []
    if not scopes:
        return  # nothing to check, or nothing was discovered yet
    useless = [(rule, scope) for rule, scope in patterns if not any(map(scope.fullmatch, scopes))]
    for rule, scope in useless:
        text = f"quota_requests.auto_approval: the scope {scope.pattern!r} of the rule {rule} matches no project"
        yield warning(name, text, f"it has to match the whole of domain/project, such as {scopes[0]!r}")
    if not useless:
        yield ok(name, "rules that approve requests: each scope matches a project")


CHECKS = (check_approvals,)
