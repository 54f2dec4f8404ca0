"""The processes that run until a signal: `limes api`, `placement` and `liquid` under gunicorn, `collect`, `metrics`."""

import argparse
import os
import runpy
import sys
from typing import TYPE_CHECKING

from limes.app.commands import placement_audit, placement_import, terminal
from limes.app.liquid import LISTEN_VARIABLE, SERVICE_VARIABLE
from limes.kernel.errors import ConfigError

if TYPE_CHECKING:
    from limes.collector.runner import TaskCounts

_CODES = {0: "stopped by a signal", 1: "it could not start; standard error says why"}


def add_to(commands: terminal.Commands) -> None:
    """Adds all; `placement` has sub-commands, and serves without one of them."""
    config = terminal.add_config_option
    terminal.add_command(commands, "api", run, "serve the Limes Resource API", config, codes=_CODES, process="api")
    text = "serve the Placement API; audit or import"
    parser = terminal.add_command(commands, "placement", run, text, config, codes=_CODES, process="placement")
    parser.usage = "%(prog)s [-h] [--config FILE] [ACTION ...]"  # argparse shows ACTION as required, which it is not
    actions = parser.add_subparsers(metavar="ACTION", required=False, prog=parser.prog)
    placement_audit.add_to(actions)
    placement_import.add_to(actions)
    terminal.add_command(
        commands,
        "liquid",
        run_liquid,
        "serve the LIQUID protocol for one of the configured services",
        terminal.argument("service_type", metavar="SERVICE_TYPE", help="one of services[].service_type"),
        terminal.argument("--listen", metavar="HOST:PORT", help="instead of the configured liquid.listen"),
        config,
        codes=_CODES,
        process="liquid",
    )
    terminal.add_command(
        commands,
        "collect",
        collect,
        "discover projects, scrape usage and capacity, write quota into backends",
        terminal.flag("--once", "do what is due and what follows from it, then end"),
        *(terminal.add_json_option, terminal.add_config_option),
        codes={0: "stopped by a signal, or done", 1: "with --once: a task has failed, or an error"},
    )
    terminal.add_command(
        commands,
        "metrics",
        serve_metrics,
        "serve quota, usage, capacity and commitments as metrics",
        terminal.add_config_option,
        description="Serves the figures of the cloud on `metrics.listen`, whether or not collectors run. Any number of"
        " such processes may run: each has all figures.",
        codes={0: "stopped by a signal"},
    )


def run_liquid(options: argparse.Namespace) -> int:
    os.environ[SERVICE_VARIABLE] = options.service_type
    if options.listen:
        os.environ[LISTEN_VARIABLE] = options.listen
    return run(options)


def run(options: argparse.Namespace) -> int:
    os.environ["LIMES_PROCESS"] = options.process
    app = "limes_app" if options.process == "api" else f"{options.process}_app"
    # as `python -m gunicorn`, in the Python that runs already
    sys.argv[1:] = ["-c", "python:limes.app.composition.gunicorn_conf", f"limes.wsgi:{app}()"]
    runpy.run_module("gunicorn", run_name="__main__", alter_sys=True)
    return 0


def collect(options: argparse.Namespace) -> int:
    if not options.once:
        if options.json:
            raise ConfigError(["--json is for --once"])
        return _collect_until_signal()
    outcomes = _run_rounds()
    if options.json:
        terminal.print_json({"outcomes": outcomes})
    else:
        rows = [
            (outcome.task, outcome.about, outcome.succeeded, terminal.warn(outcome.failed, bool(outcome.failed)))
            for outcome in outcomes
        ]
        names = ("task", "of", "succeeded>", "failed>")
        terminal.print_table(terminal.result_console(), "Done", names, rows, empty="nothing was due")
    return 1 if any(outcome.failed for outcome in outcomes) else 0


def _collect_until_signal() -> int:
    from limes.kernel.system import garbage_collector_paused, give_back_large_blocks, tune_garbage_collector

    with garbage_collector_paused():
        from limes.app.composition.collector import open_collector
        from limes.app.composition.common import load_settings, set_up_logs
        from limes.collector.runner import run_until_signal

        give_back_large_blocks()
        settings = load_settings()
        set_up_logs(settings)
        collector = open_collector(settings)
    tune_garbage_collector()
    run_until_signal(collector)
    return 0


def _run_rounds() -> "list[TaskCounts]":
    """Runs until nothing is due, with a bar on standard error if that is a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from limes.app.composition.collector import open_collector
    from limes.app.composition.common import load_settings, set_up_logs
    from limes.collector.runner import run_once

    settings = load_settings()
    console = terminal.progress_console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        set_up_logs(settings)  # within, so that log lines stand above the bar
        collector = open_collector(settings)
        task = progress.add_task("tasks", total=None)
        collector.listeners.append(lambda job, seconds: progress.advance(task))

        def on_round() -> None:
            progress.update(task, total=progress.tasks[task].completed + collector.due())

        outcomes = run_once(collector, on_round)
        progress.update(task, total=progress.tasks[task].completed)
    return outcomes


def serve_metrics(options: argparse.Namespace) -> int:
    from limes.kernel.system import garbage_collector_paused, tune_garbage_collector

    with garbage_collector_paused():
        from limes.app.composition.common import load_settings, set_up_logs
        from limes.app.composition.metrics import open_metrics
        from limes.collector.runner import run_until_signal

        settings = load_settings()
        set_up_logs(settings)
        process = open_metrics(settings)
    tune_garbage_collector()
    run_until_signal(process)
    return 0
