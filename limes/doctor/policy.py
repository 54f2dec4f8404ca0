"""The policy files: usable, without rules that nobody asks for, and without doors that stand open."""

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path

from limes.api.policy import RULES
from limes.auth.policy import Policy, Rule
from limes.doctor.case import Case
from limes.doctor.finding import Finding, ok, problem, warning
from limes.doctor.policy_file import PolicyFile, passes_everybody
from limes.errors import ConfigError
from limes.liquid.policy import RULES as LIQUID_RULES
from limes.placement.policy import rules as placement_rules


def check(case: Case) -> Iterator[Finding]:
    """The file of each API."""
    settings = case.settings
    files = (
        ("policy.api", "api.policy_file", settings.api.policy_file, RULES),
        (
            "policy.placement",
            "placement.policy_file",
            settings.placement.policy_file,
            placement_rules(settings.placement.enforce_new_defaults),
        ),
        ("policy.liquid", "liquid.policy_file", settings.liquid.policy_file, LIQUID_RULES),
    )
    for name, setting, path, rules in files:
        if path is None:
            yield ok(name, f"{setting} is not set: the shipped rules hold (limes config policy prints them)")
            continue
        yield from _file(name, path, rules)


def _file(name: str, path: Path, rules: tuple[Rule, ...]) -> Iterator[Finding]:
    try:
        policy = Policy(rules, path)
    except ConfigError as error:
        mend = f'correct {path}: YAML, one `"RULE": "CHECK"` a line, as `limes config policy` prints them'
        yield from (problem(name, text, mend) for text in error.problems)
        return
    file = PolicyFile(path)
    found = [*_unused(name, file, rules), *_garbled(name, file), *_open(name, file, policy, rules)]
    yield from found or [ok(name, f"{path}: {len(file.names)} rules")]


def _unused(name: str, file: PolicyFile, rules: Iterable[Rule]) -> Iterator[Finding]:
    """A rule that is neither ours nor a helper of another one is a slip, and what it was meant for is not in force."""
    known = [rule.name for rule in rules]
    for rule in file.unused(known):
        near = difflib.get_close_matches(rule, known, n=1)
        mend = f"did you mean {near[0]}?" if near else "remove it; `limes config policy` lists all rules"
        yield warning(name, f"{file.path}: nothing asks for the rule {rule!r}", mend)


def _garbled(name: str, file: PolicyFile) -> Iterator[Finding]:
    for rule in file.garbled():
        text = f"{file.path}: the check of {rule!r} cannot be understood, so nobody passes it"
        yield problem(name, text, "write it as `limes config policy` shows: role:NAME, rule:NAME, and, or, not, @, !")


def _open(name: str, file: PolicyFile, policy: Policy, rules: Iterable[Rule]) -> Iterator[Finding]:
    """Rules that everybody with any token passes, though by default not everybody does."""
    shipped = Policy(rules)
    for rule in rules:
        if not rule.operations or not passes_everybody(policy, rule) or passes_everybody(shipped, rule):
            continue
        text = f"{file.path}: everybody with a token passes {rule.name!r} ({rule.description})"
        mend = f'name a role in it, or remove it; the default is "{rule.check}"'
        only_reads = all(method == "GET" for method, _ in rule.operations)
        yield (warning if only_reads else problem)(name, text, mend)
