"""`docs/upgrade-and-backup.md` lists every migration after the first, with the tables that it keeps people from."""

import re
from pathlib import Path

from playhouse.migrations import Migration

from limes.db.migrate import AGAINST_ALL, AGAINST_CHANGES, AGAINST_WRITERS, Step, limes_migrations, steps_of

PAGE = Path(__file__).parents[2] / "docs/upgrade-and-backup.md"


def row(migration: Migration) -> str:
    """The line of the page's table."""
    locks = [
        (table, mode) for step in steps_of(migration) if isinstance(step, Step) for table, mode in step.locks.items()
    ]

    def cell(*wanted: str) -> str:
        tables = dict.fromkeys(f"`{table}`" for table, mode in locks if mode in wanted)
        return ", ".join(tables) or "-"

    return f"| `{migration.name}` | {cell(AGAINST_ALL)} | {cell(AGAINST_CHANGES, AGAINST_WRITERS)} |"


def test_each_migration_is_there() -> None:
    expected = [row(migration) for migration in Migration.load_directory(str(limes_migrations.directory))[1:]]
    listed = re.findall(r"^\| `\d{4}_.*\|$", PAGE.read_text(), re.MULTILINE)
    assert listed == expected, "\n" + "\n".join(expected)
