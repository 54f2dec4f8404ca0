"""The policy rules of all APIs."""

from collections.abc import Iterable

from limes.app.liquid.app import RULES as LIQUID_RULES
from limes.app.routes import DOCUMENTED_RULES
from limes.auth.policy import Rule
from limes.placement.routes import documented_rules
from reference.markdown import code, table

_HEAD = """# Policy rules

Made from the rules in the code. `limes config policy` and `limes config policy placement` print them as policy files
that change nothing. `api.policy_file`, `placement.policy_file` and `liquid.policy_file` override them, in oslo.policy's
YAML form. Rules without requests are there for others to name.
"""


def render() -> str:
    """The whole page."""
    lines = [_HEAD]
    for title, rules in (
        ("Limes API", DOCUMENTED_RULES),
        ("Placement API", documented_rules(True)),
        ("Placement API with the older defaults", documented_rules(False)),
        ("LIQUID", LIQUID_RULES),
    ):
        lines += [f"## {title}", "", *_rules(rules)]
    return "\n".join(lines)


def _rules(rules: Iterable[Rule]) -> list[str]:
    return table(
        ("rule", "default", "guards", "requests"),
        (
            (
                code(rule.name),
                code(rule.check) or "everybody",
                rule.description,
                ", ".join(code(f"{method} {path}") for method, path in rule.operations),
            )
            for rule in rules
        ),
    )
