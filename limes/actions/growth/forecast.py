"""Tells when quota, capacity and commitments of the cloud or a domain are exhausted (docs/growth.md)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from limes.actions.reports.attention import NamedResource, Where, named_resources, scope_of
from limes.core.catalog import Catalog, Ref
from limes.core.forecast import MIN_DAYS, Exhaustion, Trend, exhaustion
from limes.core.metering.calendar import HOUR
from limes.core.selection import Selection
from limes.db.engine import Engine
from limes.db.queries import growth_history, growth_samples
from limes.db.queries.growth_history import Present
from limes.db.transactions import snapshot
from limes.system import Clock

Limit = Literal["capacity", "quota", "commitments"]


@dataclass(frozen=True, slots=True)
class LimitForecast:
    """When a limit is reached. `expected` is None without a trend, unless it is reached already."""

    limit: Limit
    amount: int
    expected: Exhaustion | None


@dataclass(frozen=True, slots=True)
class Forecast:
    """A resource in one AZ, or in all of them (`az` is empty). The limit that counts comes first."""

    named: NamedResource
    present: Present
    trend: Trend | None
    missing_days: int
    """How many days of data are missing for a trend."""
    limits: list[LimitForecast]


@dataclass(frozen=True, slots=True)
class Forecasts:
    """What is full first comes first. `sampled_at` is None before the first sample."""

    forecasts: list[Forecast]
    sampled_at: int | None


@dataclass(frozen=True, slots=True)
class ForecastGrowth:
    """The use case. It reads one state of the database, with at most four queries."""

    engine: Engine
    catalog: Catalog
    clock: Clock

    @snapshot
    def run(self, where: Where, selection: Selection, *, every_az: bool = False) -> Forecasts:
        """Returns forecasts for the cloud or a domain. Raises `NotFound`."""
        scope_of(self.engine, where)  # it exists
        named = {each.ref: each for each in named_resources(self.engine, self.catalog, selection).values()}
        sampled_at = growth_samples.state(self.engine).sampled_at
        if not sampled_at:
            return Forecasts([], None)
        now = int(self.clock.now().timestamp())
        hour = sampled_at - sampled_at % HOUR
        rows = growth_history.present(self.engine, where.domain or "", hour, every_az=every_az)
        found = [build_forecast(named[ref], row, now) for row in rows if (ref := (row.service, row.resource)) in named]
        return Forecasts(sort_forecasts(found, list(named), self.catalog), sampled_at)


def sort_forecasts(found: Iterable[Forecast], refs: Sequence[Ref], catalog: Catalog) -> list[Forecast]:
    """Returns what is full first, and else in the order of these resources."""
    order = {ref: position for position, ref in enumerate(refs)}
    return sorted(found, key=lambda each: (*_urgency(each), order[each.named.ref], catalog.az_order(each.present.az)))


def build_forecast(named: NamedResource, row: Present, now: int) -> Forecast:
    """Returns when present usage reaches its limits, if it goes on to grow like the trend."""
    trend = row.trend
    amounts: dict[Limit, int | None] = {
        "capacity": row.capacity,
        "quota": row.quota,
        "commitments": row.committed or None,
    }
    limits = [
        LimitForecast(limit, amount, _expected(trend, row.usage, amount, now))
        for limit, amount in amounts.items()
        if amount is not None and (amount or row.usage)
    ]
    return Forecast(named, row, trend, max(MIN_DAYS - (row.days or 0), 0) if trend is None else 0, limits)


def _expected(trend: Trend | None, usage: int, amount: int, now: int) -> Exhaustion | None:
    if trend is None:
        return Exhaustion(now, now, now) if usage >= amount else None
    return exhaustion(trend, usage, amount, now)


def _urgency(forecast: Forecast) -> tuple[float, float, float]:
    """Sort key: when capacity, or else quota is exhausted, at the earliest; and how much of it is used."""
    first = next((each for each in forecast.limits if each.limit != "commitments"), None)
    if first is None:
        return math.inf, math.inf, 0
    at, earliest, _ = first.expected or (None, None, None)
    share = forecast.present.usage / first.amount if first.amount else 1
    return (math.inf if at is None else at), (math.inf if earliest is None else earliest), -share
