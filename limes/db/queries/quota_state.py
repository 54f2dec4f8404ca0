"""All quotas of one domain or project."""

from limes.core.catalog import Ref
from limes.db.engine import Engine


def domain_quotas(engine: Engine, domain_id: int, *, lock: bool) -> dict[Ref, int]:
    """Every quota of a domain. With `lock`, nobody else changes any of them until the transaction ends.

    A row that is missing means 0. With `lock` those are made: a row that does not exist cannot be locked.
    """
    if lock:
        engine.execute(
            "INSERT INTO domain_resources (domain_id, resource_id, quota)"
            " SELECT d.id, r.id, 0 FROM domains d CROSS JOIN resources r WHERE d.id = %s AND NOT EXISTS"
            " (SELECT 1 FROM domain_resources dr WHERE dr.domain_id = d.id AND dr.resource_id = r.id)"
            " ORDER BY r.id ON CONFLICT (domain_id, resource_id) DO NOTHING",
            [domain_id],
        )
    rows = engine.rows(
        "SELECT s.type, r.name, dr.quota FROM domain_resources dr JOIN resources r ON r.id = dr.resource_id"
        " JOIN services s ON s.id = r.service_id WHERE dr.domain_id = %s"
        f" ORDER BY dr.resource_id{_lock(engine, 'dr', lock)}",
        [domain_id],
    )
    return {(service_type, name): quota for service_type, name, quota in rows}


def project_quotas(engine: Engine, project_id: int, *, lock: bool) -> dict[Ref, int]:
    """Every quota of a project, none for what was not scraped yet. With `lock`, nobody else changes one meanwhile."""
    rows = engine.rows(
        "SELECT s.type, r.name, pr.quota FROM project_resources pr JOIN resources r ON r.id = pr.resource_id"
        " JOIN services s ON s.id = r.service_id WHERE pr.project_id = %s AND pr.quota IS NOT NULL"
        f" ORDER BY pr.resource_id{_lock(engine, 'pr', lock)}",
        [project_id],
    )
    return {(service_type, name): quota for service_type, name, quota in rows}


def _lock(engine: Engine, table: str, lock: bool) -> str:
    return f" FOR UPDATE OF {table}" if lock and engine.for_update else ""
