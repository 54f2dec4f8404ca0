"""`limes serve`: both APIs and the collector in one command, for a first look or a small lab."""

import argparse
import os
import sys
from pathlib import Path

from limes.app.commands import terminal
from limes.kernel.errors import StartupError

QUICKSTART = Path(__file__).with_name("quickstart.yaml")
"""The sample cloud that runs where nothing is configured."""
SAMPLE_DATA = Path(__file__).with_name("sample-data.yaml")


def add_to(commands: terminal.Commands) -> None:
    terminal.add_command(
        commands,
        "serve",
        run,
        "run both APIs and the collector in one command, for a first look or a small lab",
        terminal.flag("--fresh", "delete the data of a sample cloud first, and start with new ones"),
        terminal.add_config_option,
        description="Runs both APIs and the collector. Without any configuration, it runs a sample cloud.",
        codes={0: "stopped by a signal", 1: "it could not start, or one of the processes has ended"},
    )


def run(options: argparse.Namespace) -> int:
    """Starts everything, fills an empty Placement with the sample data, and waits for Ctrl-C or a failure."""
    from limes.app.commands.serve.prepare import banner, prepare
    from limes.app.commands.serve.sample_data import SampleData
    from limes.app.commands.serve.supervisor import Supervisor
    from limes.app.composition.common import find_config

    config = find_config()
    built_in = not os.environ.get("LIMES_CONFIG") and not config.is_file()
    if built_in:  # the processes that we start find it as well
        config = QUICKSTART
        os.environ["LIMES_CONFIG"] = str(config)
        print("There is no configuration file, so this is a sample cloud.", flush=True)
    settings, log_folder = prepare(fresh=options.fresh)
    with Supervisor(log_folder) as supervisor:
        try:
            supervisor.start("placement", settings.placement.listen)
            supervisor.start("api", settings.api.listen)
            supervisor.wait_until_ready(timeout=60)
            sample = SampleData(settings, supervisor) if settings.serve.sample_data else None
            if sample is not None:
                sample.load_placement()
            supervisor.start("collect", settings.collector.listen)
            supervisor.wait_until_ready(timeout=60)
            if sample is not None:
                sample.load_quotas()
        except StartupError as error:
            print(f"limes serve: {error}", file=sys.stderr)
            return 1
        if not supervisor.stopped:
            print(banner(settings, log_folder, config.absolute(), built_in=built_in), flush=True)
        return supervisor.wait()
