"""`limes collect`: the background work, until SIGTERM, or once."""

import argparse
from typing import TYPE_CHECKING

from limes.commands import terminal

if TYPE_CHECKING:
    from limes.collector.runner import Outcome
    from limes.settings import Settings


def add_to(commands: terminal.Commands) -> None:
    terminal.add_command(
        commands,
        "collect",
        run,
        "discover projects, scrape usage and capacity, write quota into backends",
        terminal.argument("--once", action="store_true", help="do what is due and what follows from it, then end"),
        *(terminal.add_json_option, terminal.add_config_option),
        codes={0: "stopped by a signal, or done", 1: "with --once: a task has failed, or an error"},
    )


def run(options: argparse.Namespace) -> int:
    """Works until SIGTERM or SIGINT, or until nothing is due."""
    from limes.composition.common import load_settings, set_up_logs
    from limes.errors import ConfigError

    if options.json and not options.once:
        raise ConfigError(["--json is for --once"])
    settings = load_settings()
    if not options.once:
        from limes.collector.runner import run_until_signal
        from limes.composition.collector import open_collector
        from limes.memory import give_back_large_blocks, tune_garbage_collector

        give_back_large_blocks()
        set_up_logs(settings)
        collector = open_collector(settings)
        tune_garbage_collector()
        run_until_signal(collector)
        return 0
    outcomes = _run_rounds(settings)
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


def _run_rounds(settings: "Settings") -> "list[Outcome]":
    """Runs until nothing is due, with a bar on standard error if that is a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from limes.collector.runner import run_once
    from limes.composition.collector import open_collector
    from limes.composition.common import set_up_logs

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
