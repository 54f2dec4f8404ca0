"""The shipped alert rules."""

from pathlib import Path

import yaml

from reference.markdown import code, table

_RULES = Path(__file__).parents[3] / "config" / "prometheus" / "alerts.yaml"
_HEAD = """# Alerts

Made from `config/prometheus/alerts.yaml`. Values in braces are filled in by Prometheus.
"""


def render() -> str:
    """The whole page."""
    lines = [_HEAD]
    for group in yaml.safe_load(_RULES.read_text(encoding="utf-8"))["groups"]:
        for rule in group["rules"]:
            texts = rule["annotations"]
            name = rule["alert"]
            what_to_do = f"[What to do](../runbooks.md#{name.lower()})"
            lines += [f"## {name}", "", f"{texts['summary']}. {texts['description']} {what_to_do}.", ""]
            lines += table(
                ("severity", "after", "expression"),
                [(rule["labels"]["severity"], rule.get("for", "0s"), code(" ".join(rule["expr"].split())))],
            )
    return "\n".join(lines)
