"""`limes placement audit`: what should not be in the Placement's database, and clearing it away."""

import argparse
import sys
from collections.abc import Callable
from functools import partial

from limes.commands.options import Commands, add_config_option
from limes.db.engine import Engine
from limes.placement.audit import Findings, Orphan, delete_idle, delete_orphan


def add_to(actions: Commands) -> None:
    """Adds `audit`."""
    parser = actions.add_parser(
        "audit",
        help="report allocations of vanished projects, providers over capacity, consumers without allocations",
        description="Changes nothing without --repair. Exit code 1 if something is found, or is left after a repair.",
    )
    parser.add_argument(
        "--repair",
        action="store_true",
        help="delete the allocations of vanished projects, and consumers without allocations (never anything else)",
    )
    add_config_option(parser, below_another=True)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prints what it finds, and with `--repair` deletes what can be deleted."""
    from limes.composition.common import load_settings, open_checked_placement_engine
    from limes.composition.projects import open_find_gone
    from limes.placement.audit import audit

    settings = load_settings()
    engine = open_checked_placement_engine(settings, "limes-placement-audit")
    found = audit(engine, open_find_gone(settings), settings.placement.incomplete_consumer_project_id)
    _print_excesses(found)
    left = _clear(engine, found, repair=options.repair)
    projects = len({orphan.project_id for orphan in found.orphans})
    print(
        f"{len(found.orphans)} consumers of {projects} vanished projects, {len(found.idle)} consumers without"
        f" allocations, {len(found.excesses)} inventories over capacity."
    )
    if not options.repair and (found.orphans or found.idle):
        print('Nothing was changed. With --repair, what "would delete" says is done.', file=sys.stderr)
    return 1 if left or found.excesses else 0


def _print_excesses(found: Findings) -> None:
    for one in found.excesses:
        print(
            f"over capacity: {one.class_name} of provider {one.provider_name} ({one.provider_uuid}):"
            f" {one.used} used, {one.capacity} there"
        )


def _clear(engine: Engine, found: Findings, *, repair: bool) -> int:
    """Deletes all orphans and idle consumers, or says that it would. Answers how many are left."""
    left = 0
    for orphan in found.orphans:
        left += _delete(_describe(orphan), partial(delete_orphan, engine, orphan), repair=repair)
    for uuid in found.idle:
        left += _delete(
            f"consumer {uuid}, which has no allocations",
            partial(delete_idle, engine, uuid),
            repair=repair,
        )
    return left


def _delete(what: str, delete: Callable[[], bool], *, repair: bool) -> int:
    """Answers 0 if it is gone, and 1 if it is still there."""
    if not repair:
        print(f"would delete: {what}")
        return 1
    if delete():
        print(f"deleted: {what}")
        return 0
    print(f"left alone, for it has changed meanwhile: {what}")
    return 1


def _describe(orphan: Orphan) -> str:
    resources = ", ".join(f"{amount} {name}" for name, amount in orphan.resources.items())
    kind = f" of type {orphan.consumer_type}" if orphan.consumer_type else ""
    return f"consumer {orphan.uuid}{kind} of vanished project {orphan.project_id}: {resources}"
