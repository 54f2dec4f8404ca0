"""What is stored of one service of one project: quota, usage by AZ, and how the last scrape and push went."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from limes.db.engine import Engine, placeholders


class QuotaRow(NamedTuple):
    """Quota of a project's resource, and the backend's (stored form, see `limes.core.quota`); usage over all AZs."""

    quota: int | None
    backend_quota: int | None
    usage: int = 0


class ServiceState(NamedTuple):
    """The times of a row in `project_services` that prove claims, and what is known of the backend's quota."""

    next_scrape_at: float
    scraped_at: float | None
    quota_desynced_at: float | None
    next_push_at: float | None
    drifted_at: float | None = None
    pushed_at: float | None = None


class AZUsageRow(NamedTuple):
    """Usage of a resource in one AZ."""

    resource_id: int
    az: str
    usage: int
    physical_usage: int | None
    subresources: str


def read_quotas(engine: Engine, project_id: int, resources: Collection[int]) -> dict[int, QuotaRow]:
    """Quota by resource id."""
    return _quotas(engine, project_id, resources, "")


def lock_quotas(engine: Engine, project_id: int, resources: Collection[int]) -> dict[int, QuotaRow]:
    """Quota by resource id. Until the transaction ends, nobody else changes it.

    In the order in which all transactions lock: `project_resources` before `project_services`.
    """
    return _quotas(engine, project_id, resources, engine.for_update)


def _quotas(engine: Engine, project_id: int, resources: Collection[int], lock: str) -> dict[int, QuotaRow]:
    if not resources:
        return {}
    rows = engine.rows(
        "SELECT resource_id, quota, backend_quota, usage FROM project_resources"
        f" WHERE project_id = %s AND resource_id IN ({placeholders(len(resources))})"
        f" ORDER BY resource_id{lock}",
        [project_id, *resources],
    )
    return {row[0]: QuotaRow._make(row[1:]) for row in rows}


def lock_state(engine: Engine, id_: int) -> ServiceState | None:
    """The row in `project_services`, locked; None if the project or service is gone."""
    row = engine.row(
        "SELECT next_scrape_at, scraped_at, quota_desynced_at, next_push_at, drifted_at, pushed_at"
        f" FROM project_services WHERE id = %s{engine.for_update}",
        [id_],
    )
    return None if row is None else ServiceState._make(row)


def write_quotas(engine: Engine, project_id: int, quotas: Mapping[int, QuotaRow]) -> None:
    """Sets the quota and backend quota of resources, by id; makes missing rows."""
    if not quotas:
        return
    engine.execute(
        "INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage) VALUES "
        + ", ".join(["(%s, %s, %s, %s, 0)"] * len(quotas))
        + " ON CONFLICT (project_id, resource_id) DO UPDATE"
        " SET quota = excluded.quota, backend_quota = excluded.backend_quota",
        [value for resource, row in sorted(quotas.items()) for value in (project_id, resource, *row[:2])],
    )


def write_backend_quotas(engine: Engine, project_id: int, quotas: Mapping[int, int]) -> None:
    """Sets what the backends enforce, by resource id (stored form)."""
    for resource, quota in sorted(quotas.items()):
        engine.execute(
            "UPDATE project_resources SET backend_quota = %s WHERE project_id = %s AND resource_id = %s",
            [quota, project_id, resource],
        )


def write_usage(
    engine: Engine, project_id: int, resources: Collection[int], rows: Sequence[AZUsageRow]
) -> set[tuple[int, str]]:
    """Replaces the usage of these resources by `rows`. Answers in which of them, and in which AZs, less is used now."""
    if not resources:
        return set()
    usage = {(row.resource_id, row.az): row.usage for row in rows}
    before = {
        (resource, az): used
        for resource, az, used in engine.rows(
            "SELECT resource_id, az, usage FROM project_az_resources"
            f" WHERE project_id = %s AND resource_id IN ({placeholders(len(resources))})",
            [project_id, *resources],
        )
    }
    for resource, az in sorted(before.keys() - usage.keys()):
        engine.execute(
            "DELETE FROM project_az_resources WHERE project_id = %s AND resource_id = %s AND az = %s",
            [project_id, resource, az],
        )
    if rows:
        engine.execute(
            "INSERT INTO project_az_resources"
            " (project_id, resource_id, az, usage, physical_usage, subresources) VALUES "
            + ", ".join(["(%s, %s, %s, %s, %s, %s)"] * len(rows))
            + " ON CONFLICT (project_id, resource_id, az) DO UPDATE SET usage = excluded.usage,"
            " physical_usage = excluded.physical_usage, subresources = excluded.subresources",
            [value for row in sorted(rows) for value in (project_id, *row)],
        )
    refresh_totals(engine, project_id, resources)
    return {place for place, used in before.items() if usage.get(place, 0) < used}


def refresh_totals(engine: Engine, project_id: int, resources: Collection[int]) -> None:
    """Sets the totals over all AZs from their rows. Belongs into every transaction that writes such rows."""
    of_resource = "FROM project_az_resources az WHERE az.project_id = pr.project_id AND az.resource_id = pr.resource_id"
    engine.execute(
        f"UPDATE project_resources AS pr SET usage = (SELECT COALESCE(SUM(az.usage), 0) {of_resource}),"
        " physical_usage = (SELECT CASE WHEN MAX(az.physical_usage) IS NOT NULL"
        f" THEN SUM(COALESCE(az.physical_usage, az.usage)) END {of_resource})"
        f" WHERE pr.project_id = %s AND pr.resource_id IN ({placeholders(len(resources))})",
        [project_id, *resources],
    )


def record_scrape(engine: Engine, id_: int, now: float, next_scrape_at: float, duration: float) -> None:
    """Says that a scrape has succeeded."""
    engine.execute(
        "UPDATE project_services SET scraped_at = %s, checked_at = %s, next_scrape_at = %s, scrape_duration = %s,"
        " scrape_error = '', scrape_claimed_until = NULL WHERE id = %s",
        [now, now, next_scrape_at, duration, id_],
    )


def record_failed_scrape(engine: Engine, id_: int, now: float, next_scrape_at: float, error: str) -> None:
    """Says that a scrape has failed. The figures of the last success stay."""
    engine.execute(
        "UPDATE project_services SET checked_at = %s, next_scrape_at = %s, scrape_error = %s,"
        " scrape_claimed_until = NULL WHERE id = %s",
        [now, next_scrape_at, error, id_],
    )


def mark_desynced(engine: Engine, id_: int, desynced_at: float, next_push_at: float) -> None:
    """Says that the backend has to be told the quota."""
    engine.execute(
        "UPDATE project_services SET quota_desynced_at = %s, next_push_at = %s WHERE id = %s",
        [desynced_at, next_push_at, id_],
    )


def mark_synced(engine: Engine, id_: int) -> None:
    """Says that the backend's quota is the wanted one."""
    engine.execute(
        "UPDATE project_services SET quota_desynced_at = NULL, next_push_at = NULL, push_failures = 0,"
        " push_error = '', drifted_at = NULL WHERE id = %s",
        [id_],
    )


def record_push(engine: Engine, id_: int, now: float) -> None:
    """Says that the backend was told its quota."""
    engine.execute("UPDATE project_services SET pushed_at = %s WHERE id = %s", [now, id_])


def set_drift(engine: Engine, id_: int, since: float | None) -> None:
    """Says since when the backend enforces another quota than it was told; None: it does not."""
    engine.execute("UPDATE project_services SET drifted_at = %s WHERE id = %s", [since, id_])


def record_failed_push(engine: Engine, id_: int, next_push_at: float, failures: int, error: str) -> None:
    """Says that the quota could not be written, and when to try again."""
    engine.execute(
        "UPDATE project_services SET next_push_at = %s, push_failures = %s, push_error = %s WHERE id = %s",
        [next_push_at, failures, error, id_],
    )


def push_failures(engine: Engine, id_: int) -> int:
    """How many times in a row the quota could not be written."""
    row = engine.row("SELECT push_failures FROM project_services WHERE id = %s", [id_])
    return int(row[0]) if row else 0


def request_scrape(engine: Engine, id_: int) -> None:
    """Asks for a scrape before all that is merely due."""
    engine.execute("UPDATE project_services SET is_stale = %s WHERE id = %s", [True, id_])
