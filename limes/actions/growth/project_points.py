"""How much a project has used and committed to over time, from its account."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from limes.actions.context import Limes
from limes.actions.metering.sources import load_sources, window_at
from limes.core.calendar import DAY, Bucket, Granularity, buckets, day_of
from limes.core.catalog import Ref
from limes.core.metering import Account, add_zones
from limes.core.selection import Selection
from limes.db.engine import Engine
from limes.db.queries import usage_accounts as accounts
from limes.db.queries import usage_sources
from limes.db.queries.growth_history import QuotaRow, quotas_of_project
from limes.db.queries.usage_sources import MeterFilter


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


class Wanted(NamedTuple):
    """What to tell: from `begin` to `end`, which begin an hour, a day or a month."""

    begin: int
    end: int
    granularity: Granularity
    selection: Selection
    every_az: bool = False


Points = dict[tuple[Ref, str], dict[int, Point]]
"""By resource, AZ (empty: all of them together) and time."""
Quotas = dict[Ref, list[QuotaRow]]


def known_since(engine: Engine, project: str) -> int | None:
    """Returns since when the project (UUID) has an account; None if it has none."""
    state = accounts.state(engine)
    names = usage_sources.names(engine, [project]).get(project)
    return max(state.begun_at, names[0].since) if state and names else None


def kept_since(limes: Limes, granularity: Granularity, now: int) -> int:
    """Returns from when on single hours or days are kept; months for ever."""
    keep = limes.settings.metering
    days = {Granularity.HOUR: keep.keep_hours, Granularity.DAY: keep.keep_days}.get(granularity)
    return 0 if days is None else day_of(now) - days * DAY


def read_points(limes: Limes, project: str, wanted: Wanted, now: int) -> Points:
    """Returns what the account of a project (UUID) says, without times of which nothing is known. To be called inside
    a transaction; it takes ten queries at most."""
    state, since = accounts.state(limes.engine), known_since(limes.engine, project)
    if state is None or since is None or wanted.begin >= wanted.end:
        return {}
    begin, end, granularity = wanted.begin, wanted.end, wanted.granularity
    refs, window = wanted.selection.refs, window_at(limes, state, now)
    only = MeterFilter({service for service, _ in refs}, {resource for _, resource in refs})
    known = load_sources(limes.engine, [project], begin, end, granularity, window, only=only)
    times = [bucket for bucket in buckets(begin, end, granularity) if bucket.end > since]
    found: Points = {}
    for zones in known.resources():
        counted = [(bucket, by_az) for bucket, by_az in zip(times, known.accounts(zones, times), strict=True)]
        for meter in zones if wanted.every_az else zones[:1]:
            # what was largest in each AZ was hardly so at the same time, so it is only told of one AZ
            is_single = wanted.every_az or len(zones) == 1
            accounts_of = [
                (bucket, by_az[meter].account if is_single else add_zones([each.account for each in by_az.values()]))
                for bucket, by_az in counted
            ]
            key = ((meter.service, meter.resource), meter.az if wanted.every_az else "")
            found[key] = _points(accounts_of, since, now)
    return found


def _points(accounts_of: Sequence[tuple[Bucket, Account]], since: int, now: int) -> dict[int, Point]:
    """Returns the points of a resource, without those in which usage was not known at all."""
    found = {}
    for bucket, account in accounts_of:
        elapsed = min(bucket.end, now) - bucket.begin
        # nothing happened in a project before it was found; before the account began, that is unknown as well
        before = max(since - bucket.begin, 0)
        told = elapsed - max(account.unknown, before)
        if told > 0:
            averages = (_average(account.used, told), _average(account.committed, elapsed - before))
            found[bucket.begin] = Point(bucket.begin, *averages, account.largest, account.last)
    return found


def _average(total: int, seconds: int) -> int:
    return (2 * total + seconds) // (2 * seconds)


def read_quotas(engine: Engine, project: str, begin: int, end: int) -> Quotas:
    """Returns the quotas that a project (UUID) had in this time, by resource, in order."""
    found: Quotas = defaultdict(list)
    for row in quotas_of_project(engine, project, begin, end):
        found[row.service, row.resource].append(row)
    return found


def quota_at(quotas: Iterable[QuotaRow], end: int) -> int | None:
    return next((row.quota for row in quotas if row.since < end and (row.until is None or row.until >= end)), None)
