"""`limes config`: writes or checks the configuration file, and shows settings and policy rules."""

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limes.app.commands import terminal
from limes.kernel.errors import ConfigError, StartupError

if TYPE_CHECKING:
    from limes.auth.policy import Rule
    from limes.collector.sync_catalog import ChangedModel, Comparison

_START = Path(__file__).with_name("start.yaml")
_MODE = 0o640
"""Passwords may come into the file."""


def add_to(commands: terminal.Commands) -> None:
    parser = commands.add_parser("config", help="write or check the configuration; show settings and policy rules")
    actions = terminal.add_actions(parser)
    terminal.add_command(
        actions,
        "init",
        init,
        "write a commented configuration to start from; existing files are left alone",
        terminal.argument(
            "file", nargs="?", default="limes.yaml", metavar="FILE", help="where to (default: limes.yaml)"
        ),
        terminal.flag("--sample", "the sample cloud of `limes serve` instead, with its sample data"),
        description="Writes a commented configuration to start from. It never overwrites a file.",
        codes={1: "a file is there already, or cannot be written"},
    )
    terminal.add_command(
        actions,
        "check",
        check,
        "report everything that is wrong with the configuration at once",
        *(terminal.add_json_option, terminal.add_config_option),
        terminal.flag(
            "--against-database",
            "also say which services, resources and availability zones of the database it drops, and what they"
            " hold; and whose distribution model it changes",
        ),
        codes={1: "something is wrong with it", 3: "it would drop something of the database"},
    )
    text = "print every setting with its default and what it means, as Markdown"
    terminal.add_command(actions, "options", options_page, text, terminal.add_json_option)
    terminal.add_command(
        actions,
        "policy",
        print_policy,
        "print every policy rule with its default and what it is for",
        terminal.argument("api", nargs="?", choices=("limes", "placement"), default="limes", help="the API to print"),
        terminal.file_argument(
            "--config", help="print the rules that are in force with this configuration file, instead of the defaults"
        ),
        terminal.add_json_option,
        description="Prints a policy file. Without --config it has the shipped rules, as comments. With it, it also has"
        " the rules of the configuration's policy file, which are in force.",
    )


def init(options: argparse.Namespace) -> int:
    from limes.app.commands.serve import QUICKSTART, SAMPLE_DATA

    path = Path(options.file)
    sources = {path: _START}
    if options.sample:
        sources = {path: QUICKSTART, path.with_name(SAMPLE_DATA.name): SAMPLE_DATA}
    for target in sources:
        if target.exists():
            raise StartupError(f"{target} is there already, and is left as it is; name another file")
    for target, source in sources.items():
        text = source.read_text(encoding="utf-8")
        try:
            with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE), "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise StartupError(f"cannot write {target}: {error.strerror}") from None
        print(f"Wrote {target}")
    config = "" if options.file == "limes.yaml" else f" --config {options.file}"
    steps = [
        f"  1. Edit {path}: the lines marked with `change this` are examples.",
        "  2. export LIMES_IDENTITY_PASSWORD=...       the password of Limes's user in Keystone",
        f"  3. {f'limes config check{config}':42} says what is wrong with the file",
        f"  4. {f'limes db upgrade{config}':42} makes the tables",
        f"  5. {f'limes doctor{config}':42} says whether Keystone, database and backends work",
        f"  6. {f'limes serve{config}':42} runs everything; for production see docs/install.md",
    ]
    sample_steps = [
        f"  {f'limes serve{config}':44} runs the sample cloud",
        f"  {f'limes serve{config} --fresh':44} runs it with new data",
    ]
    print("\n".join(["", "Next:", "", *(sample_steps if options.sample else steps)]))
    return 0


def check(options: argparse.Namespace) -> int:
    """Reads everything that the configuration names, and asks no service except, on request, the database. Problems are
    raised as `ConfigError`."""
    from limes.app.doctor.configuration import check_configuration
    from limes.collector.checks import render_comparison
    from limes.kernel.findings import counted

    try:
        catalog, warnings = check_configuration()
        comparison, models = _compare_with_database() if options.against_database else (None, ())
    except ConfigError as error:
        if not options.json:
            raise
        terminal.print_json({"problems": error.problems})
        return 1
    services, resources = len(catalog.services), len(catalog.refs())
    if options.json:
        document: dict[str, object] = {"problems": [], "services": services, "resources": resources}
        document |= {"warnings": warnings} if warnings else {}
        document |= {"models": models} if models else {}
        terminal.print_json(document | ({"dropped": comparison} if comparison else {}))
    elif not services:
        print("The configuration is fine, for `limes placement` alone: it has no services.")
    else:
        print(f"The configuration is fine: {counted(services, 'service')} with {counted(resources, 'resource')}.")
    if not options.json:
        print("".join(f"warning: {text}\n" for text in warnings), end="")
    if comparison is None:
        return 0
    if not options.json:
        print("\n".join(render_comparison(comparison, models)))
    return 3 if comparison.drops_anything else 0


def _compare_with_database() -> "tuple[Comparison, Sequence[ChangedModel]]":
    """Returns what the configuration drops, and the distribution models that it changes. Raises `LimesError`."""
    from limes.app.composition.cluster import build_cluster
    from limes.app.composition.common import load_settings, open_checked_engine
    from limes.app.context import open_limes
    from limes.collector.sync_catalog import compare_catalog, compare_models

    settings = load_settings()
    cluster = build_cluster(settings)
    with closing(open_checked_engine(settings, "limes-config-check")) as engine:
        limes = open_limes(cluster, engine, settings)
        return compare_catalog(limes), compare_models(limes)


def options_page(options: argparse.Namespace) -> int:
    from limes.app.settings.document import all_rows, render_page

    if options.json:
        terminal.print_json(list(all_rows()))
    else:
        print(render_page(), end="")
    return 0


def print_policy(options: argparse.Namespace) -> int:
    """Prints rules as a policy file, or as JSON. Raises `ConfigError` for a file that cannot be used."""
    from msgspec import structs

    from limes.app.composition.common import load_any_settings
    from limes.app.routes import DOCUMENTED_RULES
    from limes.app.settings import read_yaml
    from limes.auth.policy import Policy
    from limes.placement.routes import documented_rules

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
        in_force = [{"in_force": str(overrides.get(rule.name, rule.check))} if options.config else {} for rule in rules]
        terminal.print_json([structs.asdict(rule) | extra for rule, extra in zip(rules, in_force, strict=True)])
        return 0
    setting = "api.policy_file" if options.api == "limes" else "placement.policy_file"
    if options.config and path is None:
        print(f"# {setting} is not set: the shipped rules are in force\n")
    elif options.config:
        print(
            f"# {setting} is {path}: its rules are in force, and the shipped ones (in comments) for everything else\n"
        )
    print("\n".join(_lines(rules, overrides)))
    return 0


def _lines(rules: Sequence["Rule"], overrides: Mapping[str, Any]) -> Iterator[str]:
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
        yield "# Not a rule of Limes: other rules refer to it, or nothing uses it (limes doctor says which)."
        yield f'"{name}": "{overrides[name]}"\n'
