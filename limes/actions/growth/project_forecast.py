"""Tells when the quota and commitments of one project are exhausted, when somebody asks (docs/adr/0033).

Nothing is computed in advance, as nobody asks about most projects. The work of a request is bounded by the number of
resources and AZs, of which each has at most 90 days, and does not depend on the size of the cloud.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from limes.actions.growth.forecast import Forecasts, build_forecast, sort_forecasts
from limes.actions.growth.project_points import (
    Point,
    Points,
    Quotas,
    Wanted,
    kept_since,
    known_since,
    quota_at,
    read_points,
    read_quotas,
)
from limes.actions.metering.close import DEFAULT_RETENTION, Retention
from limes.actions.metering.usage import VALID_FOR
from limes.actions.reports.attention import NamedResource, Where, named_resources, scope_of
from limes.core.catalog import ANY_AZ, Catalog, Ref
from limes.core.commitments.commitment import Status
from limes.core.forecast import LOOK_BACK, MIN_DAYS, trend_of
from limes.core.metering.calendar import DAY, Granularity, day_of
from limes.core.selection import Selection
from limes.db.engine import Engine
from limes.db.queries import project_sums
from limes.db.queries.growth_history import Present
from limes.db.queries.project_sums import Among
from limes.db.transactions import snapshot
from limes.system import Clock


class _Now(NamedTuple):
    """Present figures of a resource in one AZ, or in all of them."""

    usage: int
    committed: int = 0
    quota: int | None = None


@dataclass(frozen=True, slots=True)
class ForecastProject:
    """The use case. It reads one state of the database, with a fixed number of queries."""

    engine: Engine
    catalog: Catalog
    clock: Clock
    valid_for: float = VALID_FOR
    retention: Retention = DEFAULT_RETENTION

    @snapshot
    def run(self, where: Where, selection: Selection, *, every_az: bool = False) -> Forecasts:
        """Returns forecasts for a project. Raises `NotFound`."""
        scope, resources = scope_of(self.engine, where), named_resources(self.engine, self.catalog, selection)
        assert where.project is not None, "of a project"
        now = int(self.clock.now().timestamp())
        today = day_of(now)
        figures = self._figures(scope.id, resources, now, every_az=every_az)
        begin = self._first_day(where.project, now)
        wanted = Wanted(begin, today, Granularity.DAY, selection, every_az)
        points = read_points(self.engine, where.project, wanted, now, self.valid_for)
        quotas: Quotas = {} if every_az else read_quotas(self.engine, where.project, begin, today)
        found = []
        for named, az, present in figures:
            days = _days_of_data(points, quotas, wanted, named.ref, az)
            found.append(build_forecast(named, _present(named.ref, az, present, days, today), now))
        return Forecasts(sort_forecasts(found, selection.refs, self.catalog), now)

    def _first_day(self, project: str, now: int) -> int:
        """Returns the first whole day of which the project has an account, at most 90 days ago."""
        today, known = day_of(now), known_since(self.engine, project)
        if known is None:
            return today
        return max(-(-known // DAY) * DAY, today - LOOK_BACK * DAY, kept_since(Granularity.DAY, self.retention, now))

    def _figures(
        self, project: int, resources: Mapping[int, NamedResource], now: int, *, every_az: bool
    ) -> Iterator[tuple[NamedResource, str, _Now]]:
        """Yields what there is something to say about."""
        ids, among = list(resources), Among("project", [project])
        committed: dict[tuple[int, str], int] = defaultdict(int)
        for row in project_sums.committed_sums(self.engine, ids, now, "project", among):
            if row.status == Status.CONFIRMED:
                committed[row.resource_id, row.az if every_az else ""] += int(row.amount)
        found: dict[tuple[int, str], _Now] = {}
        if every_az:
            for usage in project_sums.az_usage_sums(self.engine, ids, "project", among):
                found[usage.resource_id, usage.az] = _Now(int(usage.usage))
        else:
            for total in project_sums.resource_sums(self.engine, ids, "project", among):
                quota = None if total.quota is None else int(total.quota)
                found[total.resource_id, ""] = _Now(int(total.usage), 0, quota)
        for id_, az in sorted({*found, *committed}):
            figures = found.get((id_, az), _Now(0))._replace(committed=committed[id_, az])
            if az != ANY_AZ and any(figures):
                yield resources[id_], az, figures


def _days_of_data(points: Points, quotas: Quotas, wanted: Wanted, ref: Ref, az: str) -> list[Point]:
    """Returns the days of a resource's data. They begin, as samples do, when something of it is used, committed or
    granted; a day on which it only began is left out."""
    known = points.get((ref, az))
    days = range(wanted.begin, wanted.end, DAY)
    if known is None:  # then nothing was ever used or committed
        known = {day: Point(day, 0, 0) for day in days}
    granted = quotas.get(ref, ())
    began = next((day for day in days if _is_something(known.get(day)) or quota_at(granted, day + DAY)), wanted.end)
    first = began if began == wanted.begin else began + DAY
    return [point for day, point in sorted(known.items()) if day >= first]


def _is_something(point: Point | None) -> bool:
    return point is not None and bool(point.used or point.committed or point.last)


def _present(ref: Ref, az: str, now: _Now, days: Sequence[Point], today: int) -> Present:
    """Returns the present figures with their trend, as the collector's job stores it for a domain."""
    usage = [(point.begins, float(point.used)) for point in days]
    trend = trend_of(today, usage) if len(days) >= MIN_DAYS else None
    return Present(*ref, az, today, now.usage, now.committed, now.quota, None, len(days), trend)
