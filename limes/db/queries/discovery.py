"""Domains and projects as rows: what is known, and how it follows what a discovery found."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from limes.db.engine import Engine, Row, placeholders

_LIVE = "('planned', 'pending', 'confirmed')"
_CHUNK = 500


class KnownProject(NamedTuple):
    """A project as it is stored."""

    id: int
    uuid: str
    name: str
    parent_uuid: str


def domain_ids(engine: Engine) -> dict[str, int]:
    """Id of each domain, by UUID."""
    return {uuid: id_ for id_, uuid in engine.rows("SELECT id, uuid FROM domains")}


def projects_of(engine: Engine, domain_id: int) -> dict[str, KnownProject]:
    """The projects of a domain, by UUID."""
    rows = engine.rows("SELECT id, uuid, name, parent_uuid FROM projects WHERE domain_id = %s", [domain_id])
    return {row[1]: KnownProject._make(row) for row in rows}


def upsert_domain(engine: Engine, uuid: str, name: str) -> int:
    """Makes the domain, or gives it its present name. Answers its id."""
    row = engine.row(
        "INSERT INTO domains (uuid, name) VALUES (%s, %s) ON CONFLICT (uuid) DO UPDATE SET name = excluded.name"
        " RETURNING id",
        [uuid, name],
    )
    assert row is not None
    return int(row[0])


def add_domain_quotas(engine: Engine, domain_id: int, quotas: Mapping[int, int]) -> None:
    """Makes the rows of a domain's quotas, by resource id, where they are missing."""
    if not quotas:
        return
    engine.execute(
        "INSERT INTO domain_resources (domain_id, resource_id, quota) VALUES "
        + ", ".join(["(%s, %s, %s)"] * len(quotas))
        + " ON CONFLICT (domain_id, resource_id) DO NOTHING",
        [value for resource, quota in quotas.items() for value in (domain_id, resource, quota)],
    )


def upsert_projects(engine: Engine, domain_id: int, projects: Sequence[tuple[str, str, str]]) -> None:
    """Makes projects given as (UUID, name, parent's UUID), or gives them their present name and parent."""
    for start in range(0, len(projects), _CHUNK):
        chunk = projects[start : start + _CHUNK]
        engine.execute(
            "INSERT INTO projects (uuid, name, parent_uuid, domain_id, has_bursting) VALUES "
            + ", ".join(["(%s, %s, %s, %s, %s)"] * len(chunk))
            + " ON CONFLICT (uuid) DO UPDATE SET name = excluded.name, parent_uuid = excluded.parent_uuid",
            [value for project in chunk for value in (*project, domain_id, False)],
        )


def add_project_services(engine: Engine, domain_id: int, now: float) -> None:
    """Makes what is missing of the rows that say when to scrape a project of the domain: at once."""
    engine.execute(
        "INSERT INTO project_services"
        " (project_id, service_id, next_scrape_at, is_stale, scrape_error, push_failures, push_error)"
        " SELECT p.id, s.id, %s, %s, '', 0, '' FROM projects p CROSS JOIN services s"
        " WHERE p.domain_id = %s"
        " AND NOT EXISTS (SELECT 1 FROM project_services ps WHERE ps.project_id = p.id AND ps.service_id = s.id)"
        " ON CONFLICT (project_id, service_id) DO NOTHING",
        [now, False, domain_id],
    )


def projects_of_domains(engine: Engine, domain_uuids: Collection[str]) -> set[str]:
    """The UUIDs of all projects of these domains."""
    return _select_in(
        engine, "SELECT p.uuid FROM projects p JOIN domains d ON d.id = p.domain_id WHERE d.uuid IN ", domain_uuids
    )


def lock_projects(engine: Engine, uuids: Collection[str]) -> None:
    """Until the transaction ends, nobody makes or receives a commitment in these projects."""
    if uuids:
        engine.rows(
            f"SELECT id FROM projects WHERE uuid IN ({placeholders(len(uuids))}) ORDER BY id{engine.for_update}",
            list(uuids),
        )


def committed_projects(engine: Engine, uuids: Collection[str]) -> set[str]:
    """Which of these projects have commitments that are neither expired nor superseded."""
    return _select_in(
        engine,
        f"SELECT DISTINCT p.uuid FROM projects p JOIN project_commitments c ON c.project_id = p.id"
        f" WHERE c.status IN {_LIVE} AND p.uuid IN ",
        uuids,
    )


def committed_domains(engine: Engine, uuids: Collection[str]) -> set[str]:
    """Which of these domains have projects with commitments that are neither expired nor superseded."""
    return _select_in(
        engine,
        "SELECT DISTINCT d.uuid FROM domains d JOIN projects p ON p.domain_id = d.id"
        f" JOIN project_commitments c ON c.project_id = p.id WHERE c.status IN {_LIVE} AND d.uuid IN ",
        uuids,
    )


def _select_in(engine: Engine, sql: str, values: Collection[str]) -> set[str]:
    if not values:
        return set()
    return {row[0] for row in engine.rows(f"{sql}({placeholders(len(values))})", list(values))}


class VanishedQuota(NamedTuple):
    """A quota above 0 that is about to go. Domain quotas have no project."""

    domain_uuid: str
    domain_name: str
    project_uuid: str
    project_name: str
    service_type: str
    resource_name: str
    quota: int


def quotas_of_vanished(engine: Engine, projects: Collection[str], domains: Collection[str]) -> list[VanishedQuota]:
    """The quotas above 0 of these projects, and of these domains with all of their projects, by UUID."""
    resource = "JOIN resources r ON r.id = q.resource_id JOIN services s ON s.id = r.service_id"
    of_projects = (
        "SELECT d.uuid, d.name, p.uuid, p.name, s.type, r.name, q.quota FROM project_resources q"
        f" JOIN projects p ON p.id = q.project_id JOIN domains d ON d.id = p.domain_id {resource} WHERE q.quota > 0"
    )
    found = _rows_in(engine, f"{of_projects} AND p.uuid IN", projects)
    found += _rows_in(engine, f"{of_projects} AND d.uuid IN", domains)
    of_domains = (
        "SELECT d.uuid, d.name, '', '', s.type, r.name, q.quota FROM domain_resources q"
        f" JOIN domains d ON d.id = q.domain_id {resource} WHERE q.quota > 0"
    )
    found += _rows_in(engine, f"{of_domains} AND d.uuid IN", domains)
    return [VanishedQuota._make(row) for row in found]


def _rows_in(engine: Engine, sql: str, values: Collection[str]) -> list[Row]:
    ordered = sorted(values)
    chunks = [ordered[start : start + _CHUNK] for start in range(0, len(ordered), _CHUNK)]
    return [row for chunk in chunks for row in engine.rows(f"{sql} ({placeholders(len(chunk))})", chunk)]


def delete_projects(engine: Engine, uuids: Collection[str]) -> None:
    """Deletes projects with all that is known of them."""
    for uuid in uuids:
        engine.execute("DELETE FROM projects WHERE uuid = %s", [uuid])


def delete_domains(engine: Engine, uuids: Collection[str]) -> None:
    """Deletes domains with their projects and all that is known of them."""
    for uuid in uuids:
        engine.execute("DELETE FROM domains WHERE uuid = %s", [uuid])


def mark_stale(engine: Engine, project_id: int) -> None:
    """Asks for a scrape of all services of a project, before all that is merely due."""
    engine.execute("UPDATE project_services SET is_stale = %s WHERE project_id = %s", [True, project_id])
