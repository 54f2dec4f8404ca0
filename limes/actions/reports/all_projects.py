"""Quota and usage of the projects of all domains."""

import math
from collections.abc import Generator, Iterator
from typing import NamedTuple

from limes.actions.reports.projects import ProjectReport, add_commitments, add_outages, read_figures
from limes.core.catalog import Catalog
from limes.core.selection import Page, Selection
from limes.db.engine import Engine
from limes.db.queries.project_sums import Among
from limes.db.queries.projects import projects_everywhere

CHUNK = 200
"""Projects that are read, and stand in memory, at a time."""


class PlacedProject(NamedTuple):
    """A project, and the UUID of its domain."""

    domain_uuid: str
    report: ProjectReport


def run_page(
    engine: Engine,
    catalog: Catalog,
    selection: Selection,
    page: Page,
    *,
    with_azs: bool,
    commitments_at: float | None = None,
    stale_before: float = -math.inf,
) -> list[PlacedProject]:
    """One page of them, in the order of their UUIDs."""
    return engine.snapshot(lambda: _read(engine, catalog, selection, page, with_azs, commitments_at, stale_before))


def stream(
    engine: Engine,
    catalog: Catalog,
    selection: Selection,
    *,
    with_azs: bool,
    commitments_at: float | None = None,
    stale_before: float = -math.inf,
) -> Generator[PlacedProject, None, None]:
    """All of them, in the order of their UUIDs and from one state of the database. See `Engine.snapshot_stream`."""

    def read() -> Iterator[PlacedProject]:
        page = Page(CHUNK)
        while found := _read(engine, catalog, selection, page, with_azs, commitments_at, stale_before):
            yield from found
            if len(found) < CHUNK:
                return
            page = Page(CHUNK, found[-1].report.project.uuid)

    return engine.snapshot_stream(read)


def _read(
    engine: Engine,
    catalog: Catalog,
    selection: Selection,
    page: Page,
    with_azs: bool,
    commitments_at: float | None,
    stale_before: float,
) -> list[PlacedProject]:
    projects = projects_everywhere(engine, page)
    ids = [project.id for project in projects]
    reports = read_figures(engine, catalog, selection, projects, 0, ids, with_azs)
    if commitments_at is not None:
        add_commitments(engine, selection, reports, commitments_at, Among("project", ids))
    add_outages(engine, reports, stale_before)
    return [PlacedProject(report.project.domain_uuid, report) for report in reports]
