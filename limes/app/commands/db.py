"""`limes db`: brings the schema up, and says what it lacks."""

import argparse
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from limes.app.commands import terminal

if TYPE_CHECKING:
    from limes.app.composition.common import Database


def add_to(commands: terminal.Commands) -> None:
    parser = commands.add_parser("db", help="bring the database schema up to this release")
    actions = terminal.add_actions(parser)
    for name, run, text, codes in (
        ("upgrade", upgrade, "apply all pending migrations", {}),
        ("status", status, "list pending migrations", {1: "there are pending ones, or an error"}),
        ("rebuild-sums", rebuild, "recompute the sums over projects that PostgreSQL keeps", {}),
    ):
        options = (terminal.add_json_option, terminal.add_config_option)
        terminal.add_command(actions, name, run, text, *options, codes=codes)


def upgrade(options: argparse.Namespace) -> int:
    """Applies the pending migrations of both halves. Any number of processes may do so at once."""
    tell = terminal.progress_console().print
    _report(options, "applied", "nothing to do", lambda database: database.migrations.upgrade(database.engine, tell))
    return 0


def status(options: argparse.Namespace) -> int:
    pending = _report(options, "pending", "up to date", lambda database: database.migrations.pending(database.engine))
    return 1 if pending else 0


def rebuild(options: argparse.Namespace) -> int:
    """Computes the stored sums again. The services may run: writers wait for it."""
    from limes.app.composition.common import load_settings, open_checked_engine
    from limes.usage.sum_upkeep import rebuild_sums
    from limes.usage.sums import are_stored

    with closing(open_checked_engine(load_settings(), "limes-db")) as engine:
        rebuild_sums(engine)
    if options.json:
        terminal.print_json({"sums": {"location": engine.location, "rebuilt": are_stored(engine)}})
    else:
        done = "computed again" if are_stored(engine) else "nothing to do: SQLite keeps no sums"
        terminal.result_console().print(f"sums over projects: {done}")
    return 0


def _report(options: argparse.Namespace, key: str, nothing: str, names_of: "Callable[[Database], list[str]]") -> int:
    """Shows the names that each half gives, and returns how many there are."""
    from limes.app.composition.common import all_databases

    with terminal.progress_console().status("looking at migrations ..."):
        names_by_half = [(each.migrations.name, each.engine.location, names_of(each)) for each in all_databases()]
    if options.json:
        halves = [{"half": half, "location": where, key: names} for half, where, names in names_by_half]
        terminal.print_json({"databases": halves})
    else:
        rows = [(half, where, ", ".join(names) or nothing) for half, where, names in names_by_half]
        terminal.print_table(terminal.result_console(), "Migrations", ("half", "database", key), rows)
    return sum(len(names) for _, _, names in names_by_half)
