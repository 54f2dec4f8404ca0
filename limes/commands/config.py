"""`limes config`: checks the configuration file, and shows settings and policy rules."""

import argparse

from limes.commands.dropped import lines_of
from limes.commands.options import Commands, add_config_option, add_exit_codes
from limes.commands.output import add_json_option, print_json
from limes.errors import ConfigError


def add_to(commands: Commands) -> None:
    """Adds `config check`, `config options` and `config policy`."""
    parser = commands.add_parser("config", help="check the configuration; show settings and policy rules")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    action = actions.add_parser("check", help="report everything that is wrong with the configuration at once")
    add_json_option(action)
    add_config_option(action)
    action.add_argument(
        "--against-database",
        action="store_true",
        help="also say which services, resources and availability zones of the database it drops, and what they hold",
    )
    add_exit_codes(action, {1: "something is wrong with it", 3: "it would drop something of the database"})
    action.set_defaults(run=check)
    action = actions.add_parser("options", help="print every setting with its default and what it means, as Markdown")
    add_json_option(action)
    add_exit_codes(action)
    action.set_defaults(run=options_page)
    action = actions.add_parser("policy", help="print every policy rule with its default and what it is for")
    action.add_argument("api", nargs="?", choices=("limes", "placement"), default="limes", help="of which API")
    add_json_option(action)
    add_exit_codes(action)
    action.set_defaults(run=policy)


def check(options: argparse.Namespace) -> int:
    """Reads everything that the configuration names, and asks nobody but, if told so, the database. Problems are raised
    as `ConfigError`."""
    from limes.composition.check import check_configuration, compare_with_database

    try:
        checked = check_configuration()
        comparison = compare_with_database() if options.against_database else None
    except ConfigError as error:
        if not options.json:
            raise
        print_json({"problems": error.problems})
        return 1
    if options.json:
        document: dict[str, object] = {"problems": [], "services": checked.services, "resources": checked.resources}
        document |= {"warnings": list(checked.warnings)} if checked.warnings else {}
        print_json(document | ({"dropped": comparison} if comparison else {}))
    elif not checked.services:
        print("The configuration is fine, for `limes placement` alone: it has no services.")
    else:
        print(f"The configuration is fine: {checked.services} services with {checked.resources} resources.")
    if not options.json:
        print("".join(f"warning: {text}\n" for text in checked.warnings), end="")
    if comparison is None:
        return 0
    if not options.json:
        print("\n".join(lines_of(comparison)))
    return 3 if comparison.drops_anything else 0


def policy(options: argparse.Namespace) -> int:
    """Prints the rules as a policy file that changes nothing."""
    from limes.api.policy import RULES
    from limes.placement.policy import rules as placement_rules
    from limes.placement.routes import ROUTES
    from limes.web.operation import document_rules

    rules = RULES if options.api == "limes" else document_rules(placement_rules(True), ROUTES)
    if options.json:
        print_json(rules)
        return 0
    for rule in rules:
        print(f"# {rule.description}")
        for method, path in rule.operations:
            print(f"# {method} {path}")
        print(f'#"{rule.name}": "{rule.check}"\n')
    return 0


def options_page(options: argparse.Namespace) -> int:
    """Prints `docs/configuration.md`."""
    from limes.settings.document import all_rows, render_page

    if options.json:
        print_json([{"key": key, "default": default, "meaning": meaning} for key, default, meaning in all_rows()])
    else:
        print(render_page(), end="")
    return 0
