"""PostgreSQL plans the search for unused commitments of many resources for that many, whatever a session says.

Sessions of Limes have one plan for all values (`limes.db.pool`). For arrays of unknown length that is a plan for ten
items, which took minutes for 25,000 projects."""

from typing import Any

import peewee

from limes.db.migrate import Step
from limes.db.migrations.initial_sums import PAIRS


def plan_for_many(migrator: Any, db: peewee.Database) -> None:
    if isinstance(db, peewee.PostgresqlDatabase):
        db.execute_sql(f"ALTER FUNCTION limes_find_unused({PAIRS}) SET plan_cache_mode = force_custom_plan")


STEPS = (Step(plan_for_many),)
