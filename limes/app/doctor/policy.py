"""The policy files: usable, without rules that nothing uses, and without rules that let everybody in."""

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from oslo_policy import policy as oslo

from limes.app.doctor.context import Context
from limes.app.liquid.app import RULES as LIQUID_RULES
from limes.app.routes import DOCUMENTED_RULES
from limes.app.settings import read_yaml
from limes.auth.context import Identity
from limes.auth.policy import Policy, Rule
from limes.kernel.errors import ConfigError
from limes.kernel.findings import Finding, ok, problem, warning
from limes.placement.routes import documented_rules as placement_rules

_NOBODY = Identity(user_id="somebody-with-a-token-and-no-role")
_DENIAL = "!"


def check(context: Context) -> Iterator[Finding]:
    settings = context.settings
    for api, path, rules in (
        ("api", settings.api.policy_file, DOCUMENTED_RULES),
        ("placement", settings.placement.policy_file, placement_rules(settings.placement.enforce_new_defaults)),
        ("liquid", settings.liquid.policy_file, LIQUID_RULES),
    ):
        if path is None:
            text = f"{api}.policy_file is not set: the shipped rules hold (limes config policy prints them)"
            yield ok(f"policy.{api}", text)
        else:
            yield from _file(f"policy.{api}", path, rules)


def _file(name: str, path: Path, rules: tuple[Rule, ...]) -> Iterator[Finding]:
    try:
        policy = Policy(rules, path)
    except ConfigError as error:
        mend = f'correct {path}: YAML, one `"RULE": "CHECK"` a line, as `limes config policy` prints them'
        yield from (problem(name, text, mend) for text in error.problems)
        return
    texts: dict[str, Any] = read_yaml(path) or {}
    checks = dict(oslo.Rules.load(path.read_text(encoding="utf-8")))
    findings = []
    # a rule that is neither ours nor a helper of another one is a slip, and what it was meant for is not in force
    known = [rule.name for rule in rules]
    used = {helper for check in checks.values() for helper in _referenced_rules(check)}
    for rule in sorted(texts.keys() - {*known, *used}):
        near = difflib.get_close_matches(rule, known, n=1)
        mend = f"did you mean {near[0]}?" if near else "remove it; `limes config policy` lists all rules"
        findings.append(warning(name, f"{path}: nothing asks for the rule {rule!r}", mend))
    # oslo.policy lets nobody pass what it does not understand, and says so only in a log
    for rule, text in sorted(texts.items()):
        if type(checks[rule]).__name__ == "FalseCheck" and str(text).strip() != _DENIAL:
            message = f"{path}: the check of {rule!r} cannot be understood, so nobody passes it"
            mend = "write it as `limes config policy` shows: role:NAME, rule:NAME, and, or, not, @, !"
            findings.append(problem(name, message, mend))
    findings += _unguarded(name, path, policy, rules)
    yield from findings or [ok(name, f"{path}: {len(texts)} rules")]


def _unguarded(name: str, path: Path, policy: Policy, rules: Iterable[Rule]) -> Iterator[Finding]:
    """Rules that everybody with any token passes, though by default not everybody does."""
    shipped = Policy(rules)
    for rule in rules:
        if not rule.operations or not _lets_pass(policy, rule) or _lets_pass(shipped, rule):
            continue
        text = f"{path}: everybody with a token passes {rule.name!r} ({rule.description})"
        mend = f'name a role in it, or remove it; the default is "{rule.check}"'
        only_reads = all(method == "GET" for method, _ in rule.operations)
        yield (warning if only_reads else problem)(name, text, mend)


def _lets_pass(policy: Policy, rule: Rule) -> bool:
    """Returns whether a token without any role, for something else, is enough."""
    return policy.allows(rule.name, _NOBODY, {})


def _referenced_rules(check: Any) -> Iterator[str]:
    """Yields names of the rules that a check refers to, wherever in it."""
    if getattr(check, "kind", None) == "rule":
        yield check.match
    inner = [*getattr(check, "rules", ()), *([check.rule] if hasattr(check, "rule") else [])]
    for inner_check in inner:
        yield from _referenced_rules(inner_check)
