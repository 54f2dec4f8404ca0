"""`limes collect`: the background work."""

import argparse

from limes.commands.options import Commands, add_config_option


def add_to(commands: Commands) -> None:
    """Adds `collect`."""
    parser = commands.add_parser("collect", help="run the collector")
    add_config_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Works until SIGTERM or SIGINT."""
    from limes.composition.collector import run_collector

    run_collector()
    return 0
