"""What is stored of the quota of one service of one project, and how writing it into the backend went."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from limes.core.catalog import ANY_AZ, UNKNOWN_AZ
from limes.db.engine import Engine, placeholders


class QuotaRow(NamedTuple):
    """Quota of a project's resource, and the backend's (stored form, see `limes.core.quota`); usage over all AZs."""

    quota: int | None
    backend_quota: int | None
    usage: int = 0


class ServiceState(NamedTuple):
    """What a row in `project_services` says about writing its quota."""

    quota_desynced_at: float | None
    next_push_at: float | None
    push_claimed_until: float | None
    push_failures: int
    drifted_at: float | None = None


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
        "SELECT quota_desynced_at, next_push_at, push_claimed_until, push_failures, drifted_at FROM project_services"
        f" WHERE id = %s{engine.for_update}",
        [id_],
    )
    return None if row is None else ServiceState._make(row)


def write_backend_quotas(engine: Engine, project_id: int, quotas: Mapping[int, int]) -> None:
    """Sets what the backends enforce, by resource id (stored form)."""
    if not quotas:
        return
    engine.execute(
        "UPDATE project_resources SET backend_quota = CASE resource_id "
        + "WHEN %s THEN %s " * len(quotas)
        + f"END WHERE project_id = %s AND resource_id IN ({placeholders(len(quotas))})",
        [*(value for pair in quotas.items() for value in pair), project_id, *quotas],
    )


def record_outdated_push(engine: Engine, id_: int, desynced_at: float, now: float) -> None:
    """Says that the backend was told its quota, and has to be told again, by whoever comes first."""
    engine.execute(
        "UPDATE project_services SET pushed_at = %s, quota_desynced_at = %s, next_push_at = %s,"
        " push_claimed_until = NULL WHERE id = %s",
        [now, desynced_at, now, id_],
    )


def mark_once_more(engine: Engine, id_: int, desynced_at: float, next_push_at: float) -> None:
    """Says that the backend has to be told the quota again; whoever is just telling it goes on."""
    engine.execute(
        "UPDATE project_services SET quota_desynced_at = %s, next_push_at = COALESCE(next_push_at, %s) WHERE id = %s",
        [desynced_at, next_push_at, id_],
    )


def record_push(engine: Engine, id_: int, now: float) -> None:
    """Says that the backend was told its quota, and that it is the wanted one."""
    engine.execute(
        "UPDATE project_services SET pushed_at = %s, quota_desynced_at = NULL, next_push_at = NULL,"
        " push_claimed_until = NULL, push_failures = 0, push_error = '', drifted_at = NULL WHERE id = %s",
        [now, id_],
    )


def record_failed_push(engine: Engine, id_: int, next_push_at: float, failures: int, error: str) -> None:
    """Says that the quota could not be written, and when to try again."""
    engine.execute(
        "UPDATE project_services SET next_push_at = %s, push_failures = %s, push_error = %s, push_claimed_until = NULL"
        " WHERE id = %s",
        [next_push_at, failures, error, id_],
    )


def request_scrape(engine: Engine, id_: int) -> None:
    """Asks for a scrape before all that is merely due."""
    engine.execute("UPDATE project_services SET is_stale = %s WHERE id = %s", [True, id_])


def unplaced_usage(engine: Engine) -> dict[tuple[str, str], tuple[int, int]]:
    """By service type and resource: what is used in AZs that are not known, and in how many projects."""
    rows = engine.rows(
        "SELECT s.type, r.name, SUM(az.usage), COUNT(DISTINCT az.project_id) FROM project_az_resources az"
        " JOIN resources r ON r.id = az.resource_id JOIN services s ON s.id = r.service_id"
        " WHERE az.az IN (%s, %s) AND az.usage > 0 GROUP BY s.type, r.name",
        [ANY_AZ, UNKNOWN_AZ],
    )
    return {(service, name): (int(usage), int(projects)) for service, name, usage, projects in rows}
