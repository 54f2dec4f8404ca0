"""The figures behind the data metrics: each a set-based query, and those about projects streamed.

To be called in one transaction, so that all of them see one state.
"""

from collections.abc import Iterator
from typing import NamedTuple

from limes.db.engine import Engine


class ProjectName(NamedTuple):
    """A project and its domain."""

    id: int
    uuid: str
    name: str
    domain_uuid: str
    domain_name: str


class Figure(NamedTuple):
    """A value of one project and resource."""

    project_id: int
    resource_id: int
    value: int


class AZFigure(NamedTuple):
    """A value of one project and resource in one AZ."""

    project_id: int
    resource_id: int
    az: str
    value: int


class CommittedFigure(NamedTuple):
    """What a project has committed to, by status of the commitments."""

    project_id: int
    resource_id: int
    az: str
    status: str
    amount: int
    expires_at: float
    """The earliest end."""


PROJECT_COLUMNS = ("quota", "backend_quota", "usage", "physical_usage")
"""What `project_figures` knows."""


def projects(engine: Engine) -> list[ProjectName]:
    """All projects."""
    rows = engine.rows(
        "SELECT p.id, p.uuid, p.name, d.uuid, d.name FROM projects p JOIN domains d ON d.id = p.domain_id"
    )
    return [ProjectName._make(row) for row in rows]


def project_figures(engine: Engine, column: str) -> Iterator[Figure]:
    """One of `PROJECT_COLUMNS`, where it has a value."""
    assert column in PROJECT_COLUMNS
    sql = f"SELECT project_id, resource_id, {column} FROM project_resources WHERE {column} IS NOT NULL"
    return map(Figure._make, engine.stream(sql))


def project_az_usage(engine: Engine) -> Iterator[AZFigure]:
    """Usage by AZ."""
    return map(AZFigure._make, engine.stream("SELECT project_id, resource_id, az, usage FROM project_az_resources"))


def committed(engine: Engine) -> list[CommittedFigure]:
    """Commitments that are neither over nor replaced, summed up."""
    rows = engine.rows(
        """
        SELECT project_id, resource_id, az, status, SUM(amount), MIN(expires_at) FROM project_commitments
         WHERE status IN ('planned', 'pending', 'confirmed')
         GROUP BY project_id, resource_id, az, status ORDER BY project_id, resource_id, az, status
        """
    )
    return [CommittedFigure._make(row) for row in rows]


def domain_quotas(engine: Engine) -> list[tuple[str, str, int, int]]:
    """UUID and name of the domain, resource id, quota."""
    rows = engine.rows(
        "SELECT d.uuid, d.name, dr.resource_id, dr.quota FROM domain_resources dr JOIN domains d ON d.id = dr.domain_id"
    )
    return [(uuid, name, resource_id, quota) for uuid, name, resource_id, quota in rows]


def capacities(engine: Engine) -> list[tuple[int, str, int, int | None]]:
    """Resource id, AZ, raw capacity, usage."""
    rows = engine.rows("SELECT resource_id, az, raw_capacity, usage FROM az_resources ORDER BY resource_id, az")
    return [(resource_id, az, raw, usage) for resource_id, az, raw, usage in rows]
