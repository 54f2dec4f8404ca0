"""Tells how usage, quota, commitments and capacity have grown, by hour, day or month.

The cloud and domains have samples; the usage and commitments of a project come from its account. Days before either
began are told as far as the use of commitments was measured.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from limes.actions.metering.close import DEFAULT_RETENTION, Retention
from limes.actions.metering.sources import Horizon, Sources, load_sources
from limes.actions.metering.usage import VALID_FOR
from limes.actions.reports.attention import NamedResource, ReportAttention, Where
from limes.core.catalog import Catalog, Ref
from limes.core.metering.calendar import (
    DAY,
    HOUR,
    Bucket,
    Granularity,
    buckets,
    day_of,
    month_of,
    next_month,
    render_time,
)
from limes.core.selection import Selection
from limes.db.engine import Engine
from limes.db.queries import commitment_use
from limes.db.queries import usage_accounts as accounts
from limes.db.queries.attention import Scope
from limes.db.queries.growth_history import QuotaRow, growth_history, quotas_of_project
from limes.db.queries.usage_sources import Meter
from limes.errors import BadRequest
from limes.system import Clock


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """What is asked for. Times are seconds since the epoch; `days` are those before the end of today."""

    granularity: Granularity = Granularity.DAY
    days: int | None = None
    begin: int | None = None
    end: int | None = None
    every_az: bool = False


class Point(NamedTuple):
    """An hour, a day or a month. What is not known is None."""

    begins: int
    used: int
    """On average; likewise `committed`."""
    committed: int
    largest: int | None = None
    last: int | None = None
    """At the end; likewise quota and capacity."""
    quota: int | None = None
    capacity: int | None = None


@dataclass(frozen=True, slots=True)
class GrowthOfResource:
    """The oldest point first. `az` is empty for all of them together."""

    named: NamedResource
    az: str
    points: list[Point]


Found = dict[tuple[Ref, str], dict[int, Point]]
"""By resource, AZ and time."""
_DEFAULT_DAYS = {Granularity.HOUR: 1, Granularity.DAY: 30, Granularity.MONTH: 366}


@dataclass(frozen=True, slots=True)
class ReportGrowth:
    """The use case. It reads one state of the database, with a fixed number of queries."""

    engine: Engine
    catalog: Catalog
    clock: Clock
    valid_for: float = VALID_FOR
    retention: Retention = DEFAULT_RETENTION

    def run(self, where: Where, selection: Selection, query: HistoryQuery) -> list[GrowthOfResource]:
        """Returns what there is, in the order of reports. Raises `NotFound` and `BadRequest`."""
        now = int(self.clock.now().timestamp())
        begin, end = self._times(query, now)
        return self.engine.snapshot(lambda: self._read(where, selection, query, begin, end, now))

    def _times(self, query: HistoryQuery, now: int) -> tuple[int, int]:
        """Returns from when to when, as whole hours, days or months."""
        granularity, today, keep = query.granularity, day_of(now), self.retention
        kept = {Granularity.HOUR: today - keep.hours * DAY, Granularity.DAY: today - keep.days * DAY}
        since = kept.get(granularity, 0)
        if query.begin is None:
            begin = today - ((query.days or _DEFAULT_DAYS[granularity]) - 1) * DAY
            begin = max(begin, since) if granularity is Granularity.HOUR else begin
        else:
            begin = query.begin
            if begin < since:
                raise BadRequest(
                    f"query parameter from: single {granularity.value}s are kept from {render_time(since)} on; ask for"
                    f" longer times with `granularity`, or for later ones"
                )
        until = now + 1 if query.end is None else query.end
        if until <= begin:
            raise BadRequest("query parameter until: expected a time after `from`")
        end = min(_end_of(until - 1, granularity), _end_of(now, granularity))
        return _begin_of(begin, granularity), end

    def _read(
        self, where: Where, selection: Selection, query: HistoryQuery, begin: int, end: int, now: int
    ) -> list[GrowthOfResource]:
        attention = ReportAttention(self.engine, self.catalog)
        scope, resources = attention.scope(where), attention.resources(selection)
        found: Found = defaultdict(dict)
        if query.granularity is Granularity.DAY and not query.every_az:
            self._add_use(found, scope, resources, begin, end)
        if where.project is None:
            self._add_samples(found, where.domain or "", query, begin, end)
        else:
            self._add_accounts(found, where.project, query, (begin, end), now)
        wanted = {named.ref: named for named in resources.values()}
        order = {ref: position for position, ref in enumerate(wanted)}
        keys = sorted(
            (key for key in found if key[0] in wanted), key=lambda key: (order[key[0]], self.catalog.az_order(key[1]))
        )
        return [
            GrowthOfResource(wanted[ref], az, [each for _, each in sorted(found[ref, az].items())]) for ref, az in keys
        ]

    def _add_use(self, found: Found, scope: Scope, resources: dict[int, NamedResource], begin: int, end: int) -> None:
        for row in commitment_use.by_day(self.engine, scope, list(resources), begin // DAY):
            if row.day * DAY < end:
                point = Point(row.day * DAY, row.usage, row.committed)
                found[resources[row.resource_id].ref, ""][point.begins] = point

    def _add_samples(self, found: Found, scope: str, query: HistoryQuery, begin: int, end: int) -> None:
        for row in growth_history(self.engine, scope, query.granularity, begin, end, every_az=query.every_az):
            point = Point(row.begins, row.used, row.committed, row.largest, row.last, row.quota, row.capacity)
            found[(row.service, row.resource), row.az][row.begins] = point

    def _add_accounts(self, found: Found, project: str, query: HistoryQuery, times: tuple[int, int], now: int) -> None:
        state = accounts.state(self.engine)
        if state is None:
            return
        horizon = Horizon(now, state.closed_until, self.valid_for)
        known = load_sources(self.engine, [project], *times, query.granularity, horizon)
        quotas: dict[Ref, list[QuotaRow]] = defaultdict(list)
        for row in quotas_of_project(self.engine, project, *times):
            quotas[row.service, row.resource].append(row)
        wanted = [bucket for bucket in buckets(*times, query.granularity) if bucket.end > state.begun_at]
        meters: dict[tuple[Ref, str], list[Meter]] = defaultdict(list)
        for meter in known.meters():
            meters[(meter.service, meter.resource), meter.az if query.every_az else ""].append(meter)
        for (ref, az), parts in meters.items():
            points = _add_up([_points(known, meter, wanted, now) for meter in parts])
            for begins, point in points.items():
                quota = None if query.every_az else _quota_at(quotas[ref], _end_of(begins, query.granularity))
                found[ref, az][begins] = point._replace(quota=quota)


def _points(known: Sources, meter: Meter, wanted: Sequence[Bucket], now: int) -> dict[int, Point]:
    """Returns the points of a project's resource in one AZ, without those in which usage was not known at all."""
    found = {}
    for bucket, (account, _) in zip(wanted, known.accounts(meter, wanted), strict=True):
        elapsed = min(bucket.end, now) - bucket.begin
        told = elapsed - account.unknown
        if told > 0:
            averages = (account.used // told, account.committed // elapsed)
            found[bucket.begin] = Point(bucket.begin, *averages, account.largest, account.last)
    return found


def _add_up(parts: Sequence[dict[int, Point]]) -> dict[int, Point]:
    """Adds up AZs. What was largest in each was hardly so at the same time, so it is only told of one AZ."""
    if len(parts) == 1:
        return parts[0]
    found: dict[int, Point] = {}
    for point in (point for part in parts for point in part.values()):
        other = found.get(point.begins, Point(point.begins, 0, 0, None, 0))
        last = (other.last or 0) + (point.last or 0)
        found[point.begins] = Point(
            point.begins, other.used + point.used, other.committed + point.committed, None, last
        )
    return found


def _quota_at(quotas: Iterable[QuotaRow], end: int) -> int | None:
    """Returns the quota at the end of a time."""
    return next((row.quota for row in quotas if row.since < end and (row.until is None or row.until >= end)), None)


def _begin_of(time: int, granularity: Granularity) -> int:
    if granularity is Granularity.MONTH:
        return month_of(time)
    return day_of(time) if granularity is Granularity.DAY else time - time % HOUR


def _end_of(time: int, granularity: Granularity) -> int:
    begin = _begin_of(time, granularity)
    if granularity is Granularity.MONTH:
        return next_month(begin)
    return begin + (DAY if granularity is Granularity.DAY else HOUR)
