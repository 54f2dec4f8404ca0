"""The figures that decide whether a commitment can be confirmed."""

from collections.abc import Collection

from limes.core.capacity import effective
from limes.core.catalog import ANY_AZ
from limes.core.committable import Balance
from limes.db.engine import Engine, placeholders


def read_balance(
    engine: Engine, resource_id: int, az: str, overcommit_factor: float, projects: Collection[int], now: float
) -> Balance:
    """The figures of a resource in an AZ, with the usage of these projects and of all that have commitments.

    In the AZ `any`, which is that of resources whose commitments are not for one AZ, everything counts, wherever it
    is. A fixed number of statements, whatever the number of projects. To decide on it, lock the resource before.
    """
    where = "resource_id = %s" if az == ANY_AZ else "resource_id = %s AND az = %s"
    params: list[int | str] = [resource_id] if az == ANY_AZ else [resource_id, az]
    totals = engine.row(
        f"SELECT (SELECT COALESCE(SUM(raw_capacity), 0) FROM az_resources WHERE {where}),"
        f" (SELECT COALESCE(SUM(usage), 0) FROM project_az_resources WHERE {where})",
        [*params, *params],
    )
    assert totals is not None
    committed: dict[int, int] = dict(
        engine.rows(
            f"SELECT project_id, SUM(amount) FROM project_commitments WHERE {where}"
            " AND status = 'confirmed' AND expires_at > %s GROUP BY project_id",
            [*params, now],
        )
    )
    concerned = sorted({*committed, *projects})
    return Balance(
        capacity=effective(int(totals[0]), overcommit_factor),
        total_usage=int(totals[1]),
        committed=committed,
        usage=_usage(engine, where, params, concerned),
    )


def _usage(engine: Engine, where: str, params: list[int | str], projects: list[int]) -> dict[int, int]:
    usage: dict[int, int] = {}
    for start in range(0, len(projects), 10_000):
        some = projects[start : start + 10_000]
        usage |= dict(
            engine.rows(
                f"SELECT project_id, SUM(usage) FROM project_az_resources WHERE {where}"
                f" AND project_id IN ({placeholders(len(some))}) GROUP BY project_id",
                [*params, *some],
            )
        )
    return usage
