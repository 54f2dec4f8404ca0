"""The breakdown of reports by AZ: usage, and commitments by duration."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from limes.core.catalog import Ref
from limes.core.commitments.commitment import Status
from limes.db.engine import Engine
from limes.db.queries import kept_sums as queries
from limes.db.queries.project_sums import Among, Level, az_quota_sums


@dataclass(slots=True)
class AZFigures:
    """One resource in one AZ. Commitments are by duration."""

    usage: int | None = None
    """Of all projects together; None where no project has reported on this AZ, and on the project level."""
    physical_usage: int | None = None
    quota: int | None = None
    """Of all projects together, where it grows by itself; None elsewhere, and on the project level."""
    unused: int = 0
    confirmed: dict[str, int] = field(default_factory=dict)
    pending: dict[str, int] = field(default_factory=dict)
    planned: dict[str, int] = field(default_factory=dict)

    def by_status(self, status: str) -> dict[str, int]:
        """Returns the amounts by duration of one status."""
        return {Status.CONFIRMED: self.confirmed, Status.PENDING: self.pending, Status.PLANNED: self.planned}[
            Status(status)
        ]


AZBreakdown = dict[Ref, dict[str, AZFigures]]
"""By resource and AZ. What nobody uses or has committed to is missing."""


def read_commitments(
    engine: Engine, refs: Mapping[int, Ref], now: float, by: Level, among: Among
) -> defaultdict[int, AZBreakdown]:
    """Returns commitments only, by the id of the project or domain. `refs` are the resources, by id. One statement."""
    breakdowns: defaultdict[int, AZBreakdown] = defaultdict(lambda: defaultdict(lambda: defaultdict(AZFigures)))
    if refs:
        for row in queries.committed_sums(engine, list(refs), now, by, among):
            breakdowns[row.key][refs[row.resource_id]][row.az].by_status(row.status)[row.duration] = row.amount
    return breakdowns


def read_totals(
    engine: Engine, refs: Mapping[int, Ref], now: float, by: Level, among: Among, growing: Collection[Ref]
) -> defaultdict[int, AZBreakdown]:
    """Returns sums over projects, with commitments, by the id of the domain. Three statements, and one more for quota
    that grows by itself (`growing`)."""
    breakdowns = read_commitments(engine, refs, now, by, among)
    if refs:
        for row in queries.az_usage_sums(engine, list(refs), by, among):
            figures = breakdowns[row.key][refs[row.resource_id]][row.az]
            figures.usage = row.usage
            figures.physical_usage = row.physical_usage if row.has_physical_usage else None
        for (key, resource, az), amount in queries.unused_commitments(engine, list(refs), now, by, among).items():
            breakdowns[key][refs[resource]][az].unused = amount
    if with_quota := [id_ for id_, ref in refs.items() if ref in growing]:
        for (key, resource, az), amount in az_quota_sums(engine, with_quota, by, among).items():
            breakdowns[key][refs[resource]][az].quota = amount
    return breakdowns
