"""Tells how usage, quota, commitments and capacity have grown, by hour, day or month.

The cloud and domains have samples; the usage and commitments of a project come from its account. Days before either
began are told as far as the use of commitments was measured.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from limes.actions.context import Limes
from limes.actions.growth.project_points import (
    Point,
    Points,
    Wanted,
    kept_since,
    known_since,
    quota_at,
    read_points,
    read_quotas,
)
from limes.actions.reports.attention import NamedResource, Where, named_resources, scope_of
from limes.core.catalog import Ref
from limes.core.metering.calendar import DAY, Granularity, bucket_of, day_of, render_time
from limes.core.selection import Selection
from limes.db.queries import commitment_figures, growth_history
from limes.db.queries import usage_accounts as accounts
from limes.db.queries.attention import Scope
from limes.db.transactions import snapshot
from limes.errors import BadRequest


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """What is asked for. Times are seconds since the epoch; `days` are those before the end of today."""

    granularity: Granularity | None = Granularity.DAY
    """None: what suits the data."""
    days: int | None = None
    begin: int | None = None
    end: int | None = None
    every_az: bool = False


@dataclass(frozen=True, slots=True)
class GrowthOfResource:
    """The oldest point first. `az` is empty for all of them together."""

    named: NamedResource
    az: str
    points: list[Point]
    since: int
    """When the oldest data begin that there are of the resource, whatever was asked for."""


@dataclass(frozen=True, slots=True)
class Growth:
    """What there is, in the order of reports."""

    granularity: Granularity
    resources: list[GrowthOfResource]


_DEFAULT_DAYS = {Granularity.HOUR: 1, Granularity.DAY: 30, Granularity.MONTH: 366}


@snapshot
def report_growth(limes: Limes, where: Where, selection: Selection, query: HistoryQuery) -> Growth:
    """Returns what there is, with a fixed number of queries. Raises `NotFound` and `BadRequest`."""
    now = int(limes.now())
    scope, resources = scope_of(limes.engine, where), named_resources(limes.engine, limes.catalog, selection)
    named = {each.ref: each for each in resources.values()}
    since = _since(limes, where, named)
    granularity, query = _suit(limes, query, since, now)
    begin, end = _times(limes, query, granularity, now)
    wanted = Wanted(begin, end, granularity, selection, query.every_az)
    found: Points = defaultdict(dict)
    if granularity is Granularity.DAY and not query.every_az:
        _add_use(limes, found, scope, resources, begin, end)
    if where.project is None:
        _add_samples(limes, found, where.domain or "", wanted)
    else:
        _add_account(limes, found, where.project, wanted, now)
    order = {ref: position for position, ref in enumerate(named)}
    keys = sorted(
        (key for key in found if key[0] in named and found[key]),
        key=lambda key: (order[key[0]], limes.catalog.az_order(key[1])),
    )
    return Growth(granularity, [_growth(named[ref], az, found[ref, az], since.get(ref)) for ref, az in keys])


def _since(limes: Limes, where: Where, named: Mapping[Ref, NamedResource]) -> dict[Ref, int]:
    """Returns since when there are data of each resource, as far as known."""
    first = growth_history.first_times(limes.engine)
    begun = first.sample
    if where.project is None:
        since = growth_history.first_samples(limes.engine, where.domain or "")
    else:
        state, known = accounts.state(limes.engine), known_since(limes.engine, where.project)
        begun = state.begun_at if state else None
        since = {} if known is None else dict.fromkeys(named, known)
    if first.commitment_use is None:
        return since
    # what was there when sampling began may have been there before
    older = [ref for ref in named if limes.catalog.behavior(ref).commitment_durations]
    older = [ref for ref in older if begun is None or since.get(ref, 0) <= begun + DAY]
    return since | {ref: min(first.commitment_use, since.get(ref, first.commitment_use)) for ref in older}


def _suit(limes: Limes, query: HistoryQuery, since: Mapping[Ref, int], now: int) -> tuple[Granularity, HistoryQuery]:
    """Returns hours for a day of data, else days as far as they are kept; and the query from where data begin."""
    if query.granularity is not None:
        return query.granularity, query
    begin = query.begin
    if begin is None:
        begin = day_of(now) - ((query.days or _DEFAULT_DAYS[Granularity.DAY]) - 1) * DAY
    end = now if query.end is None else query.end
    begin = max(begin, min([*since.values(), end - 1]))
    granularity = Granularity.MONTH
    if end - begin <= DAY and begin >= kept_since(limes, Granularity.HOUR, now):
        granularity = Granularity.HOUR
    elif begin >= kept_since(limes, Granularity.DAY, now):
        granularity = Granularity.DAY
    return granularity, replace(query, begin=begin)


def _times(limes: Limes, query: HistoryQuery, granularity: Granularity, now: int) -> tuple[int, int]:
    """Returns from when to when, as whole hours, days or months."""
    kept = kept_since(limes, granularity, now)
    if query.begin is None:
        begin = day_of(now) - ((query.days or _DEFAULT_DAYS[granularity]) - 1) * DAY
        begin = max(begin, kept) if granularity is Granularity.HOUR else begin
    else:
        begin = query.begin
        if begin > now:
            raise BadRequest(f"query parameter from: expected no time in the future; it is {render_time(now)} now")
        if begin < kept:
            raise BadRequest(
                f"query parameter from: single {granularity.value}s are kept from {render_time(kept)} on; ask for"
                f" longer times with `granularity`, or for later ones"
            )
    until = now + 1 if query.end is None else query.end
    if until <= begin:
        raise BadRequest("query parameter until: expected a time after `from`")
    return bucket_of(begin, granularity).begin, bucket_of(min(until - 1, now), granularity).end


def _add_use(
    limes: Limes, found: Points, scope: Scope, resources: dict[int, NamedResource], begin: int, end: int
) -> None:
    for row in commitment_figures.by_day(limes.engine, scope, list(resources), begin // DAY):
        if row.day * DAY < end:
            point = Point(row.day * DAY, row.usage, row.committed)
            found[resources[row.resource_id].ref, ""][point.begins] = point


def _add_samples(limes: Limes, found: Points, scope: str, wanted: Wanted) -> None:
    times = (wanted.granularity, wanted.begin, wanted.end)
    for row in growth_history.growth_history(limes.engine, scope, *times, every_az=wanted.every_az):
        point = Point(row.begins, row.used, row.committed, row.largest, row.last, row.quota, row.capacity)
        found[(row.service, row.resource), row.az][row.begins] = point


def _add_account(limes: Limes, found: Points, project: str, wanted: Wanted, now: int) -> None:
    # the account says nothing about single days that are not kept any more
    wanted = wanted._replace(begin=max(wanted.begin, kept_since(limes, wanted.granularity, now)))
    quotas = read_quotas(limes.engine, project, wanted.begin, wanted.end)
    for (ref, az), points in read_points(limes, project, wanted, now).items():
        for begins, point in points.items():
            end = bucket_of(begins, wanted.granularity).end
            quota = None if wanted.every_az else quota_at(quotas[ref], end)
            found[ref, az][begins] = point._replace(quota=quota)


def _growth(named: NamedResource, az: str, points: Mapping[int, Point], since: int | None) -> GrowthOfResource:
    in_order = [point for _, point in sorted(points.items())]
    first = in_order[0].begins
    return GrowthOfResource(named, az, in_order, first if since is None else since)
