"""What projects use and have committed to, by day."""

from collections.abc import Collection
from typing import NamedTuple

from limes.core.commitments.utilisation import DayOfUse
from limes.core.units import MAX_STORED
from limes.db.engine import Engine, placeholders


class UseRow(NamedTuple):
    """A day of a resource in an AZ."""

    resource_id: int
    az: str
    day: DayOfUse


def _at_most_stored(total: str) -> str:
    """A sum as an integer that the database can hold."""
    return f"CASE WHEN {total} > {MAX_STORED} THEN {MAX_STORED} ELSE {total} END"


def _added(column: str) -> str:
    """The stored figure and the new one together, likewise: of an amount near the largest, a few looks are too many."""
    before, more = f"commitment_use.{column}", f"excluded.{column}"
    return f"CASE WHEN {before} > {MAX_STORED} - {more} THEN {MAX_STORED} ELSE {before} + {more} END"


_USED = _at_most_stored("SUM(x.used)")


def add_look(engine: Engine, resources: Collection[int], *, by_az: bool, day: int, now: float) -> None:
    """Adds what is used and confirmed now, over all projects, to this day's figures.

    With `by_az` AZ by AZ, else all AZs together as `any`. A row is made where something is used or committed for the
    first time on that day; the day's earlier looks count for it as well, with nothing, and so do the later ones.
    """
    if not resources:
        return
    marks, az = placeholders(len(resources)), "az" if by_az else "'any'"
    row = engine.row(
        f"SELECT COALESCE(MAX(looks), 0) FROM commitment_use WHERE day = %s AND resource_id IN ({marks})",
        [day, *resources],
    )
    assert row is not None
    engine.execute(
        f"""
        INSERT INTO commitment_use
               (project_id, resource_id, az, day, looks, usage_sum, usage_min, usage_max, committed_sum)
        SELECT x.project_id, x.resource_id, x.az, %s, %s,
               {_USED}, {_USED} * %s, {_USED}, {_at_most_stored("SUM(x.committed)")}
          FROM (SELECT project_id, resource_id, {az} AS az, usage AS used, 0 AS committed
                  FROM project_az_resources WHERE resource_id IN ({marks}) AND usage > 0
                 UNION ALL
                SELECT project_id, resource_id, {az} AS az, 0 AS used, amount AS committed
                  FROM project_commitments
                 WHERE resource_id IN ({marks}) AND status = 'confirmed' AND expires_at > %s
                 UNION ALL
                SELECT project_id, resource_id, az, 0 AS used, 0 AS committed
                  FROM commitment_use WHERE resource_id IN ({marks}) AND day = %s) x
         WHERE 1 = 1
         GROUP BY x.project_id, x.resource_id, x.az
            ON CONFLICT (project_id, resource_id, az, day) DO UPDATE
           SET looks = commitment_use.looks + 1,
               usage_sum = {_added("usage_sum")},
               usage_min = CASE WHEN excluded.usage_sum < commitment_use.usage_min
                                THEN excluded.usage_sum ELSE commitment_use.usage_min END,
               usage_max = CASE WHEN excluded.usage_max > commitment_use.usage_max
                                THEN excluded.usage_max ELSE commitment_use.usage_max END,
               committed_sum = {_added("committed_sum")}
        """,
        [day, row[0] + 1, 0 if row[0] else 1, *resources, *resources, now, *resources, day],
    )


def forget_before(engine: Engine, day: int) -> None:
    """Deletes older days."""
    engine.execute("DELETE FROM commitment_use WHERE day < %s", [day])


def of_project(engine: Engine, project_id: int, since: int) -> list[UseRow]:
    """A project's days since that one."""
    rows = engine.rows(
        "SELECT resource_id, az, day, looks, usage_sum, usage_min, usage_max, committed_sum FROM commitment_use"
        " WHERE project_id = %s AND day >= %s ORDER BY day",
        [project_id, since],
    )
    return [UseRow(row[0], row[1], DayOfUse(*row[2:])) for row in rows]
