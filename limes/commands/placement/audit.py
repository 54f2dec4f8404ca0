"""`limes placement audit`: what should not be in the Placement's database, and clearing it away."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from limes.commands.options import Commands, add_config_option, add_exit_codes
from limes.commands.placement.audit_report import Outcome, Report, as_json, as_text
from limes.db.engine import Engine
from limes.placement.audit import Findings, delete_idle, delete_orphan, find_excesses

FAILED = 2
"""The exit code when the audit could not be done."""


def add_to(actions: Commands) -> None:
    """Adds `audit`."""
    parser = actions.add_parser(
        "audit",
        help="report allocations of vanished projects, providers over capacity, consumers without allocations",
        description="Changes nothing without --repair.",
    )
    parser.add_argument(
        "--repair",
        action="store_true",
        help="delete the allocations of vanished projects, and consumers without allocations (never anything else)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    add_config_option(parser, below_another=True)
    codes = {
        0: "nothing is left to report",
        1: "something is",
        FAILED: "the audit could not be done, or the command line is wrong",
    }
    add_exit_codes(parser, codes)
    parser.set_defaults(run=run, failure_code=FAILED)


def run(options: argparse.Namespace) -> int:
    """Prints what it finds, and with `--repair` deletes what can be deleted."""
    from limes.composition.common import load_any_settings, open_checked_placement_engine
    from limes.composition.projects import open_find_gone
    from limes.placement.audit import audit

    settings = load_any_settings()
    engine = open_checked_placement_engine(settings, "limes-placement-audit")
    found = audit(engine, open_find_gone(settings), settings.placement.incomplete_consumer_project_id)
    outcomes = _clear(engine, found, repair=options.repair)
    if Outcome.DELETED in outcomes.values():
        # what orphans had was part of what is used
        found = replace(found, excesses=find_excesses(engine))
    report = Report(found, outcomes)
    print(as_json(report) if options.json else as_text(report))
    if not options.repair and report.outcomes:
        print('Nothing was changed. With --repair, what is "deletable" is deleted.', file=sys.stderr)
    return 1 if report.left else 0


def _clear(engine: Engine, found: Findings, *, repair: bool) -> dict[str, Outcome]:
    """Deletes all orphans and idle consumers, or says that it would. Answers what became of each consumer."""
    outcomes = {orphan.uuid: _delete(partial(delete_orphan, engine, orphan), repair) for orphan in found.orphans}
    return outcomes | {uuid: _delete(partial(delete_idle, engine, uuid), repair) for uuid in found.idle}


def _delete(delete: Callable[[], bool], repair: bool) -> Outcome:
    if not repair:
        return Outcome.DELETABLE
    return Outcome.DELETED if delete() else Outcome.CHANGED
