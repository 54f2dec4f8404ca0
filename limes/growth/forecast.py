"""Forecasts when quota, capacity and commitments of the cloud, a domain or a project are exhausted (docs/growth.md).

Nothing is computed in advance for projects, as most of them are never asked about (docs/adr/0033). The work of a
request is bounded by the number of resources and AZs, each with at most 90 days, and does not depend on the size of the
cloud.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from limes.app.context import Limes
from limes.catalog.catalog import ANY_AZ, Catalog, Ref, Selection
from limes.commitments.commitment import Status
from limes.db.transactions import snapshot
from limes.growth import history, queries
from limes.growth import queries as growth_history
from limes.growth import sample_queries as growth_samples
from limes.growth.rules import LOOK_BACK, MIN_DAYS, Exhaustion, Trend, exhaustion, trend_of
from limes.kernel.calendar import DAY, HOUR, Granularity, day_of
from limes.metering.entries import UsageQuery
from limes.projects.scope import NamedResource, Place, named_resources, scope_of
from limes.usage import project_sums
from limes.usage.project_sums import Among

Limit = Literal["capacity", "quota", "commitments"]


class LimitForecast(Struct, frozen=True):
    """When a limit is reached. `expected` is None without a trend, unless it is reached already."""

    limit: Limit
    amount: int
    expected: Exhaustion | None


class Forecast(Struct, frozen=True):
    """A resource in one AZ, or in all of them (`az` is empty). The limit that counts comes first."""

    named: NamedResource
    present: queries.Present
    trend: Trend | None
    missing_days: int
    """How many days of data are missing for a trend."""
    limits: list[LimitForecast]


class Forecasts(Struct, frozen=True):
    """What will be full first is at the top. `sampled_at` is None before the first sample."""

    forecasts: list[Forecast]
    sampled_at: int | None


@snapshot
def forecast_growth(limes: Limes, place: Place, selection: Selection, *, every_az: bool = False) -> Forecasts:
    """Returns forecasts for the cloud or a domain, with at most four queries. Raises `NotFound`."""
    scope_of(limes.engine, place)  # it exists
    named = {each.ref: each for each in named_resources(limes.engine, selection).values()}
    sampled_at = growth_samples.state(limes.engine).sampled_at
    if not sampled_at:
        return Forecasts([], None)
    now = int(limes.now())
    hour = sampled_at - sampled_at % HOUR
    rows = growth_history.present(limes.engine, place.domain_uuid, hour, every_az=every_az)
    found = [_build_forecast(named[ref], row, now) for row in rows if (ref := (row.service, row.resource)) in named]
    return Forecasts(_sort_forecasts(found, list(named), limes.catalog), sampled_at)


def _sort_forecasts(found: Iterable[Forecast], refs: Sequence[Ref], catalog: Catalog) -> list[Forecast]:
    order = {ref: position for position, ref in enumerate(refs)}
    return sorted(found, key=lambda each: (*_urgency(each), order[each.named.ref], catalog.az_order(each.present.az)))


def _build_forecast(named: NamedResource, row: queries.Present, now: int) -> Forecast:
    """Returns when present usage reaches its limits, if it goes on to grow like the trend."""
    trend = row.trend
    amounts: dict[Limit, int | None] = {
        "capacity": row.capacity,
        "quota": row.quota,
        "commitments": row.committed or None,
    }
    limits = []
    for limit, amount in amounts.items():
        if amount is not None and (amount or row.usage):
            expected = Exhaustion(now, now, now) if row.usage >= amount else None
            if trend is not None:
                expected = exhaustion(trend, row.usage, amount, now)
            limits.append(LimitForecast(limit, amount, expected))
    return Forecast(named, row, trend, max(MIN_DAYS - (row.days or 0), 0) if trend is None else 0, limits)


def _urgency(forecast: Forecast) -> tuple[float, float, float]:
    """Sort key: when capacity, or else quota is exhausted, at the earliest; and how much of it is used."""
    first = next((each for each in forecast.limits if each.limit != "commitments"), None)
    if first is None:
        return math.inf, math.inf, 0
    at, earliest, _ = first.expected or (None, None, None)
    share = forecast.present.usage / first.amount if first.amount else 1
    return (math.inf if at is None else at), (math.inf if earliest is None else earliest), -share


class _Now(NamedTuple):
    usage: int
    committed: int = 0
    quota: int | None = None


@snapshot
def forecast_project(limes: Limes, place: Place, selection: Selection, *, every_az: bool = False) -> Forecasts:
    """Returns forecasts for a project, with a fixed number of queries. Raises `NotFound`."""
    scope, resources = scope_of(limes.engine, place), named_resources(limes.engine, selection)
    assert place.project_uuid, "of a project"
    now = int(limes.now())
    today = day_of(now)
    figures = _figures(limes, scope.id, resources, now, every_az=every_az)
    known, begin = history.known_since(limes.engine, place.project_uuid), today
    if known is not None:  # the first whole day in the account
        kept = max(today - LOOK_BACK * DAY, history.kept_since(limes, Granularity.DAY, now))
        begin = max(-(-known // DAY) * DAY, kept)
    query = UsageQuery(begin, today, Granularity.DAY, only=history.wanted_of(selection), every_az=every_az)
    points = history.read_points(limes, place.project_uuid, query, now)
    quotas: history.Quotas = (
        {} if every_az else queries.quotas_of_project(limes.engine, place.project_uuid, begin, today)
    )
    found = []
    for named, az, present in figures:
        days = _days_of_data(points, quotas, range(begin, today, DAY), named.ref, az)
        # as the collector's job computes it for a domain
        trend = trend_of(today, [(day.begins, day.used) for day in days]) if len(days) >= MIN_DAYS else None
        usage, committed, quota = present
        row = queries.Present(*named.ref, az, today, usage, committed, quota, None, len(days), trend)
        found.append(_build_forecast(named, row, now))
    return Forecasts(_sort_forecasts(found, selection.refs, limes.catalog), now)


def _figures(
    limes: Limes, project: int, resources: Mapping[int, NamedResource], now: int, *, every_az: bool
) -> Iterator[tuple[NamedResource, str, _Now]]:
    """Yields the resources with anything to say."""
    ids, among = list(resources), Among("project", [project])
    committed: dict[tuple[int, str], int] = defaultdict(int)
    sums = project_sums.committed_sums(limes.engine, ids, now, "project", among)
    for (_, resource, az, status, _), amount in sums.items():
        if status == Status.CONFIRMED:
            committed[resource, az if every_az else ""] += int(amount)
    found: dict[tuple[int, str], _Now] = {}
    if every_az:
        for (_, resource, az), in_az in project_sums.az_usage_sums(limes.engine, ids, "project", among).items():
            found[resource, az] = _Now(int(in_az.usage))
    else:
        for total in project_sums.resource_sums(limes.engine, ids, "project", among):
            quota = None if total.quota is None else int(total.quota)
            found[total.resource_id, ""] = _Now(int(total.usage), 0, quota)
    for id_, az in sorted({*found, *committed}):
        figures = found.get((id_, az), _Now(0))._replace(committed=committed[id_, az])
        if az != ANY_AZ and any(figures):
            yield resources[id_], az, figures


def _days_of_data(
    points: history.Points, quotas: history.Quotas, days: range, ref: Ref, az: str
) -> list[queries.Point]:
    """Returns the days of a resource's data. They begin, as samples do, when something of it is used, committed or
    granted; a day on which it only began is left out."""
    # without an account, nothing was ever used or committed
    known = points.get((ref, az), {day: queries.Point(day, 0, 0) for day in days})
    granted = quotas.get(ref, ())
    something = {day for day, point in known.items() if point.used or point.committed or point.last}
    began = next((day for day in days if day in something or history.quota_at(granted, day + DAY)), days.stop)
    first = began if began == days.start else began + DAY
    return [point for day, point in sorted(known.items()) if day >= first]
