"""`limes config`: checks the configuration file, and shows the policy rules."""

import argparse

from limes.commands.options import Commands, add_config_option


def add_to(commands: Commands) -> None:
    """Adds `config check` and `config policy`."""
    parser = commands.add_parser("config", help="check the configuration; show the policy rules")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    action = actions.add_parser("check", help="report everything that is wrong with the configuration at once")
    add_config_option(action)
    action.set_defaults(run=check)
    action = actions.add_parser("options", help="print every setting with its default and what it means, as Markdown")
    action.set_defaults(run=options_page)
    action = actions.add_parser("policy", help="print every policy rule with its default and what it is for")
    action.add_argument("api", nargs="?", choices=("limes", "placement"), default="limes")
    action.set_defaults(run=policy)


def check(options: argparse.Namespace) -> int:
    """Reads everything that the configuration names, and asks nobody. Problems are raised as `ConfigError`."""
    from limes.composition.check import check_configuration

    print(check_configuration())
    return 0


def policy(options: argparse.Namespace) -> int:
    """Prints the rules as a policy file that changes nothing."""
    from limes.api.policy import RULES
    from limes.placement.policy import rules as placement_rules

    rules = RULES if options.api == "limes" else placement_rules(True)
    for rule in rules:
        print(f"# {rule.description}")
        for method, path in rule.operations:
            print(f"# {method} {path}")
        print(f'#"{rule.name}": "{rule.check}"\n')
    return 0


def options_page(options: argparse.Namespace) -> int:
    """Prints `docs/configuration.md`."""
    from limes.settings.document import render_page

    print(render_page(), end="")
    return 0
