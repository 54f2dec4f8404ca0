"""`limes collect`: the background work, until SIGTERM."""

import argparse

from limes.commands.options import Commands, add_config_option


def add_to(commands: Commands) -> None:
    """Adds `collect`."""
    parser = commands.add_parser(
        "collect", help="discover projects, scrape usage and capacity, write quota into backends"
    )
    add_config_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Works until SIGTERM or SIGINT."""
    from limes.collector.runner import run_until_signal
    from limes.composition.collector import open_collector
    from limes.composition.common import load_settings, set_up_logs

    settings = load_settings()
    set_up_logs(settings)
    run_until_signal(open_collector(settings))
    return 0
