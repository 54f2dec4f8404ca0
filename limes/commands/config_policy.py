"""`limes config policy`: the policy rules as they are shipped, or as a configuration has them."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limes.commands import terminal

if TYPE_CHECKING:
    from limes.auth.policy import Rule


def add_to(actions: terminal.Commands) -> None:
    terminal.add_command(
        actions,
        "policy",
        run,
        "print every policy rule with its default and what it is for",
        terminal.argument("api", nargs="?", choices=("limes", "placement"), default="limes", help="of which API"),
        terminal.file_argument(
            "--config",
            help="print the rules that are in force with this configuration file, instead of the defaults",
        ),
        terminal.add_json_option,
        description="Prints a policy file. Without --config it has the shipped rules, as comments. With it, it also has"
        " the rules of the configuration's policy file, which are in force.",
    )


def run(options: argparse.Namespace) -> int:
    """Prints rules as a policy file, or as JSON. Raises `ConfigError` for a file that cannot be used."""
    from limes.api.routes import DOCUMENTED_RULES
    from limes.auth.policy import Policy
    from limes.composition.common import load_any_settings
    from limes.placement.routes import documented_rules
    from limes.settings import read_yaml

    new_defaults, path = True, None
    if options.config:
        settings = load_any_settings()
        new_defaults = settings.placement.enforce_new_defaults
        path = (settings.api if options.api == "limes" else settings.placement).policy_file
    rules = DOCUMENTED_RULES if options.api == "limes" else documented_rules(new_defaults)
    overrides: dict[str, Any] = {}
    if path is not None:
        Policy(rules, path)  # raises for what is no policy file
        overrides = read_yaml(path) or {}
    if options.json:
        terminal.print_json([_document(rule, overrides, with_config=bool(options.config)) for rule in rules])
        return 0
    if options.config:
        print(f"# {_origin(options.api, path)}\n")
    print("\n".join(_lines(rules, overrides)))
    return 0


def _origin(api: str, path: Path | None) -> str:
    setting = "api.policy_file" if api == "limes" else "placement.policy_file"
    if path is None:
        return f"{setting} is not set: the shipped rules are in force"
    return f"{setting} is {path}: its rules are in force, and the shipped ones (in comments) for everything else"


def _document(rule: "Rule", overrides: Mapping[str, Any], *, with_config: bool) -> dict[str, Any]:
    """Returns the rule; `check` is the default."""
    return asdict(rule) | ({"in_force": str(overrides.get(rule.name, rule.check))} if with_config else {})


def _lines(rules: Sequence["Rule"], overrides: Mapping[str, Any]) -> Iterator[str]:
    """Yields a policy file with the effect of the overrides."""
    for rule in rules:
        yield f"# {rule.description}"
        yield from (f"# {method} {path}" for method, path in rule.operations)
        if rule.name in overrides:
            yield f'# default: "{rule.check}"'
            yield f'"{rule.name}": "{overrides[rule.name]}"\n'
        else:
            yield f'#"{rule.name}": "{rule.check}"\n'
    others = overrides.keys() - {rule.name for rule in rules}
    for name in sorted(others):
        yield "# Not one of our rules: it is for others to refer to, or nothing uses it (limes doctor knows)."
        yield f'"{name}": "{overrides[name]}"\n'
