"""Takes over databases from before there was one first migration (docs/adr/0050).

29 files up to `0031_units_and_corrections` have made their schema. It is that of `0001_initial`, but for a list that is
empty, and that triggers look into: of the projects whose sums an upgrade had still to add up.
"""

from typing import Any

import peewee

from limes.db.migrate import AGAINST_CHANGES, Step
from limes.kernel.errors import StartupError

_MADE_LAST = "metered_units"
"""A table: by `0001_initial`, and by the last of those files."""
_LOOKUP = " WHERE NOT EXISTS (SELECT 1 FROM uncounted_projects u WHERE u.project_id = rows.project_id)"
_LOOK_NO_MORE = f"""
DO $do$ DECLARE definition text; BEGIN
    FOR definition IN SELECT pg_get_functiondef(oid) FROM pg_proc
        WHERE starts_with(proname, 'limes_sum_') AND pronamespace = current_schema()::regnamespace
    LOOP EXECUTE replace(definition, '{_LOOKUP}', ''); END LOOP;
END $do$
"""


def look_no_more(migrator: Any, db: peewee.Database) -> None:
    """Replaces the functions of triggers, which locks no table."""
    if not db.table_exists(_MADE_LAST):
        raise StartupError(
            "the Limes schema is older than this release can take over: run `limes db upgrade` of commit a30b0b0e"
            " first, and then that of this release (docs/upgrade-and-backup.md)"
        )
    if isinstance(db, peewee.PostgresqlDatabase):
        db.execute_sql(_LOOK_NO_MORE)


def drop_list(migrator: Any, db: peewee.Database) -> None:
    """New databases do not have the list, so the step does not name it. It never waits for it: whoever still looks into
    it has locked a table that the step names."""
    db.execute_sql("DROP TABLE IF EXISTS uncounted_projects")


_CHANGED = ("project_resources", "project_az_resources", "project_commitments")
STEPS = (Step(look_no_more), Step(drop_list, dict.fromkeys(_CHANGED, AGAINST_CHANGES)))
