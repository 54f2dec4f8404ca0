"""`limes config`: checks the configuration file, and shows settings and policy rules."""

import argparse

from limes.commands import config_init, config_policy, terminal
from limes.errors import ConfigError


def add_to(commands: terminal.Commands) -> None:
    parser = commands.add_parser("config", help="write or check the configuration; show settings and policy rules")
    actions = terminal.add_actions(parser)
    config_init.add_to(actions)
    terminal.add_command(
        actions,
        "check",
        check,
        "report everything that is wrong with the configuration at once",
        *(terminal.add_json_option, terminal.add_config_option),
        terminal.argument(
            "--against-database",
            action="store_true",
            help="also say which services, resources and availability zones of the database it drops, and what they"
            " hold; and whose distribution model it changes",
        ),
        codes={1: "something is wrong with it", 3: "it would drop something of the database"},
    )
    text = "print every setting with its default and what it means, as Markdown"
    terminal.add_command(actions, "options", options_page, text, terminal.add_json_option)
    config_policy.add_to(actions)


def check(options: argparse.Namespace) -> int:
    """Reads everything that the configuration names, and asks nobody but, if told so, the database. Problems are raised
    as `ConfigError`."""
    from limes.composition.checks import counted
    from limes.composition.dropped import lines_of, lines_of_models
    from limes.composition.operator_commands import check_configuration, compare_with_database

    try:
        checked = check_configuration()
        comparison, models = compare_with_database() if options.against_database else (None, ())
    except ConfigError as error:
        if not options.json:
            raise
        terminal.print_json({"problems": error.problems})
        return 1
    if options.json:
        document: dict[str, object] = {"problems": [], "services": checked.services, "resources": checked.resources}
        document |= {"warnings": list(checked.warnings)} if checked.warnings else {}
        document |= {"models": models} if models else {}
        terminal.print_json(document | ({"dropped": comparison} if comparison else {}))
    elif not checked.services:
        print("The configuration is fine, for `limes placement` alone: it has no services.")
    else:
        services, resources = counted(checked.services, "service"), counted(checked.resources, "resource")
        print(f"The configuration is fine: {services} with {resources}.")
    if not options.json:
        print("".join(f"warning: {text}\n" for text in checked.warnings), end="")
    if comparison is None:
        return 0
    if not options.json:
        print("\n".join([*lines_of(comparison), *lines_of_models(models)]))
    return 3 if comparison.drops_anything else 0


def options_page(options: argparse.Namespace) -> int:
    """Prints `docs/configuration.md`."""
    from limes.settings.document import all_rows, render_page

    if options.json:
        terminal.print_json(list(all_rows()))
    else:
        print(render_page(), end="")
    return 0
