"""`limes metrics`: figures of the cloud for Prometheus, in a process of its own."""

import argparse

from limes.commands import terminal


def add_to(commands: terminal.Commands) -> None:
    terminal.add_command(
        commands,
        "metrics",
        run,
        "serve quota, usage, capacity and commitments as metrics",
        terminal.add_config_option,
        description="Serves the figures of the cloud on `metrics.listen`, whether or not collectors run. Any number of"
        " such processes may run: each has all figures.",
        codes={0: "stopped by a signal"},
    )


def run(options: argparse.Namespace) -> int:
    """Serves until SIGTERM or SIGINT."""
    from limes.collector.runner import run_until_signal
    from limes.composition.common import load_settings, set_up_logs
    from limes.composition.metrics import open_metrics
    from limes.memory import tune_garbage_collector

    settings = load_settings()
    set_up_logs(settings)
    process = open_metrics(settings)
    tune_garbage_collector()
    run_until_signal(process)
    return 0
