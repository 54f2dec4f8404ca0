"""What a decision about quota rests on, and how it is written. Locks are taken in the order of resource ids."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from limes.db.engine import Engine, placeholders
from limes.db.queries.project_rows import of_projects

_GUARANTEES = "c.status = 'confirmed' AND c.expires_at > %s AND c.transfer_status = ''"
"""Those marked for transfer do not count."""


class ProjectQuotaRow(NamedTuple):
    """Quota and usage of a project's resource."""

    quota: int | None
    usage: int
    max_backend_quota: int | None
    """The largest quota that the backend accepts, where it says so."""


class ProjectDecisionRow(NamedTuple):
    """All but the sum over projects that decides on the quota of a project's resource."""

    quota: int | None
    usage: int
    domain_quota: int | None
    raw_capacity: int
    """Over all AZs."""
    min_backend_quota: int | None
    max_backend_quota: int | None
    """What the backend accepts, where it says so."""
    committed: int
    """What the project's confirmed commitments guarantee."""


def lock_resources(engine: Engine, resources: Sequence[int]) -> None:
    """Until the transaction ends, nobody else decides on cluster-wide sums of these resources."""
    engine.rows(
        f"SELECT id FROM resources WHERE id IN ({placeholders(len(resources))}) ORDER BY id{engine.for_update}",
        resources,
    )


def lock_domain(engine: Engine, domain_id: int, resources: Sequence[int]) -> None:
    """Until the transaction ends, nobody else decides on sums over this domain's projects for these resources.

    Makes the rows to lock where they are missing (a resource that has just appeared).
    """
    marks = placeholders(len(resources))
    lock = f"""
        SELECT resource_id FROM domain_resources WHERE domain_id = %s AND resource_id IN ({marks})
         ORDER BY resource_id{engine.for_update}
    """
    found = {row[0] for row in engine.rows(lock, [domain_id, *resources])}
    missing = sorted(set(resources) - found)
    if missing:
        engine.execute(
            "INSERT INTO domain_resources (domain_id, resource_id, quota) VALUES "
            + ", ".join(["(%s, %s, 0)"] * len(missing))
            + " ON CONFLICT (domain_id, resource_id) DO NOTHING",
            [value for resource in missing for value in (domain_id, resource)],
        )
        engine.rows(lock, [domain_id, *resources])


def domain_quotas(engine: Engine, resources: Sequence[int]) -> dict[tuple[int, int], int]:
    """Quota by (domain id, resource id), over all domains."""
    rows = engine.rows(
        "SELECT domain_id, resource_id, quota FROM domain_resources"
        f" WHERE resource_id IN ({placeholders(len(resources))})",
        resources,
    )
    return {(domain, resource): quota for domain, resource, quota in rows}


def projects_quota(engine: Engine, domain_id: int, resources: Sequence[int]) -> dict[int, int]:
    """Sum of the project quotas in a domain, by resource id."""
    where, params = of_projects(engine, resources, domain_id, None)
    rows = engine.rows(
        f"SELECT resource_id, SUM(quota) FROM project_resources WHERE {where} GROUP BY resource_id", params
    )
    return {resource: quota or 0 for resource, quota in rows}


def project_quotas(engine: Engine, project_id: int, resources: Sequence[int]) -> dict[int, ProjectQuotaRow]:
    """Quota and usage of a project, by resource id. Resources that were never scraped are missing."""
    rows = engine.rows(
        "SELECT resource_id, quota, usage, max_backend_quota FROM project_resources"
        f" WHERE project_id = %s AND resource_id IN ({placeholders(len(resources))})",
        [project_id, *resources],
    )
    return {resource: ProjectQuotaRow._make(row) for resource, *row in rows}


def forbidden_projects(engine: Engine, resource_id: int, projects: Collection[int]) -> set[int]:
    """Those among these projects that the resource's backend does not let have any of it."""
    rows = engine.rows(
        "SELECT project_id FROM project_resources WHERE resource_id = %s AND max_backend_quota = 0"
        f" AND project_id IN ({placeholders(len(projects))})",
        [resource_id, *projects],
    )
    return {row[0] for row in rows}


def project_decisions(
    engine: Engine, project_id: int, domain_id: int, resources: Sequence[int], now: float
) -> dict[int, ProjectDecisionRow]:
    """By resource id, in one statement. Resources that were never scraped are missing."""
    rows = engine.rows(
        f"""
        SELECT pr.resource_id, pr.quota, pr.usage,
               (SELECT dr.quota FROM domain_resources dr
                 WHERE dr.domain_id = %s AND dr.resource_id = pr.resource_id),
               (SELECT COALESCE(SUM(az.raw_capacity), 0) FROM az_resources az WHERE az.resource_id = pr.resource_id),
               pr.min_backend_quota, pr.max_backend_quota,
               (SELECT COALESCE(SUM(c.amount), 0) FROM project_commitments c
                 WHERE c.project_id = pr.project_id AND c.resource_id = pr.resource_id AND {_GUARANTEES})
          FROM project_resources pr
         WHERE pr.project_id = %s AND pr.resource_id IN ({placeholders(len(resources))})
        """,
        [domain_id, now, project_id, *resources],
    )
    return {resource: ProjectDecisionRow._make(row) for resource, *row in rows}


def raw_capacities(engine: Engine, resources: Sequence[int]) -> dict[int, int]:
    """Raw capacity over all AZs, by resource id."""
    rows = engine.rows(
        "SELECT resource_id, SUM(raw_capacity) FROM az_resources"
        f" WHERE resource_id IN ({placeholders(len(resources))}) GROUP BY resource_id",
        resources,
    )
    return dict(rows)


def write_domain_quotas(engine: Engine, domain_id: int, quotas: Mapping[int, int]) -> None:
    """Sets a domain's quotas, by resource id."""
    engine.execute(
        f"UPDATE domain_resources SET quota = {_case(quotas)} WHERE domain_id = %s"
        f" AND resource_id IN ({placeholders(len(quotas))})",
        [*_case_params(quotas), domain_id, *quotas],
    )


def write_project_quotas(engine: Engine, project_id: int, quotas: Mapping[int, int]) -> None:
    """Sets a project's quotas, by resource id."""
    engine.execute(
        f"UPDATE project_resources SET quota = {_case(quotas)} WHERE project_id = %s"
        f" AND resource_id IN ({placeholders(len(quotas))})",
        [*_case_params(quotas), project_id, *quotas],
    )


def mark_desynced(engine: Engine, project_id: int, service_types: Sequence[str], now: float) -> None:
    """Says that the backends of these services have to be told this project's quota, as soon as possible."""
    engine.execute(
        "UPDATE project_services SET quota_desynced_at = %s, next_push_at = %s, push_failures = 0 WHERE project_id = %s"
        f" AND service_id IN (SELECT id FROM services WHERE type IN ({placeholders(len(service_types))}))",
        [now, now, project_id, *service_types],
    )


def drifted_services(engine: Engine, project_id: int, service_types: Sequence[str]) -> list[str]:
    """Those of these services whose backend somebody else has changed, and that nobody is to put right yet."""
    rows = engine.rows(
        "SELECT s.type FROM project_services ps JOIN services s ON s.id = ps.service_id"
        f" WHERE ps.project_id = %s AND s.type IN ({placeholders(len(service_types))})"
        " AND ps.drifted_at IS NOT NULL AND ps.quota_desynced_at IS NULL",
        [project_id, *service_types],
    )
    return [type_ for (type_,) in rows]


def _case(quotas: Mapping[int, int]) -> str:
    return "CASE resource_id " + "WHEN %s THEN %s " * len(quotas) + "END"


def _case_params(quotas: Mapping[int, int]) -> list[int]:
    return [value for pair in quotas.items() for value in pair]
