"""What a policy file says, rule by rule."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from oslo_policy import policy as oslo

from limes.auth.context import Identity
from limes.auth.policy import Policy, Rule
from limes.settings import read_yaml

_NOBODY = Identity(user_id="somebody-with-a-token-and-no-role")
_DENIAL = "!"


class PolicyFile:
    """A file that oslo.policy could load."""

    def __init__(self, path: Path) -> None:
        """Raises `ConfigError` if it is not YAML."""
        self.path = path
        self._texts: dict[str, Any] = read_yaml(path) or {}
        self._checks = dict(oslo.Rules.load(path.read_text(encoding="utf-8")))

    @property
    def names(self) -> list[str]:
        """The rules in it."""
        return sorted(self._texts)

    def unused(self, known: Collection[str]) -> list[str]:
        """Those that are none of the known ones, and that no other rule in the file refers to."""
        used = {name for check in self._checks.values() for name in _referred(check)}
        return [name for name in self.names if name not in known and name not in used]

    def garbled(self) -> list[str]:
        """Those whose text oslo.policy does not understand: it lets nobody pass then, and says so in a log only."""
        return [
            name
            for name in self.names
            if type(self._checks[name]).__name__ == "FalseCheck" and str(self._texts[name]).strip() != _DENIAL
        ]


def passes_everybody(policy: Policy, rule: Rule) -> bool:
    """Whether a token without any role, for something else, is enough."""
    return policy.allows(rule.name, _NOBODY, {})


def _referred(check: Any) -> Iterator[str]:
    """Names of the rules that a check refers to, wherever in it."""
    if getattr(check, "kind", None) == "rule":
        yield check.match
    inner = [*getattr(check, "rules", ()), *([check.rule] if hasattr(check, "rule") else [])]
    for one in inner:
        yield from _referred(one)
