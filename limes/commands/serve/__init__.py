"""`limes serve`: both APIs and the collector in one command, for a first look or a small lab."""

import argparse
import sys

from limes.commands.terminal import Commands, add_config_option, add_exit_codes
from limes.errors import StartupError


def add_to(commands: Commands) -> None:
    """Adds `serve`."""
    parser = commands.add_parser(
        "serve", help="run both APIs and the collector in one command, for a first look or a small lab"
    )
    add_config_option(parser)
    add_exit_codes(parser, {0: "stopped by a signal", 1: "it could not start, or one of the processes has ended"})
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Starts everything, fills an empty Placement with the sample data, and waits for Ctrl-C or a failure."""
    from limes.commands.serve.prepare import banner, prepare
    from limes.commands.serve.sample_data import SampleData
    from limes.commands.serve.supervisor import Supervisor

    settings, log_folder = prepare()
    with Supervisor(log_folder) as supervisor:
        try:
            supervisor.start("placement", settings.placement.listen)
            supervisor.start("api", settings.api.listen)
            supervisor.wait_until_ready(timeout=60)
            sample = SampleData(settings, supervisor) if settings.serve.sample_data else None
            has_more = sample is not None and sample.load_placement()
            supervisor.start("collect", settings.collector.listen)
            supervisor.wait_until_ready(timeout=60)
            if sample is not None and has_more:
                sample.load_quotas()
        except StartupError as error:
            print(f"limes serve: {error}", file=sys.stderr)
            return 1
        if not supervisor.stopped:
            print(banner(settings, log_folder), flush=True)
        return supervisor.wait()
