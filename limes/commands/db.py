"""`limes db`: brings the schema up, and says what it lacks."""

import argparse

from limes.commands.options import Commands, add_config_option


def add_to(commands: Commands) -> None:
    """Adds `db upgrade` and `db status`."""
    parser = commands.add_parser("db", help="bring the database schema up to this release")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    for name, run, text in (
        ("upgrade", upgrade, "apply all pending migrations"),
        ("status", status, "list pending migrations; exit code 1 if there are any"),
    ):
        action = actions.add_parser(name, help=text)
        add_config_option(action)
        action.set_defaults(run=run)


def upgrade(options: argparse.Namespace) -> int:
    """Applies the pending migrations of both halves. Any number of processes may do so at once."""
    from limes.composition.databases import all_databases

    for database in all_databases():
        names = database.migrations.upgrade(database.engine)
        print(f"{database.migrations.name} ({database.engine.location}): {', '.join(names) or 'nothing to do'}")
    return 0


def status(options: argparse.Namespace) -> int:
    """Lists the pending migrations of both halves."""
    from limes.composition.databases import all_databases

    pending = 0
    for database in all_databases():
        names = database.migrations.pending(database.engine)
        print(f"{database.migrations.name} ({database.engine.location}): {', '.join(names) or 'up to date'}")
        pending += len(names)
    return 1 if pending else 0
