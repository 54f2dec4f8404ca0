"""Reports how usage, quota, commitments and capacity have grown, by hour, day or month.

The cloud and domains have samples; the usage and commitments of a project come from its account. Days before either
began are given as far as the use of commitments was measured.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, structs

from limes.app.context import Limes
from limes.catalog.catalog import Ref, Selection
from limes.commitments import figures as commitment_figures
from limes.db.engine import Engine
from limes.db.transactions import snapshot
from limes.growth import queries as growth_history
from limes.growth.queries import Point, QuotaRow, quotas_of_project
from limes.kernel.calendar import DAY, Bucket, Granularity, bucket_of, buckets, day_of, render_time
from limes.kernel.errors import BadRequest
from limes.metering import accounts, entries, rules, source_queries, sources
from limes.metering import source_queries as usage_sources
from limes.projects.scope import NamedResource, Place, named_resources, scope_of

Points = dict[tuple[Ref, str], dict[int, Point]]
"""By resource, AZ (empty: all of them together) and time."""
Quotas = dict[Ref, list[QuotaRow]]


def wanted_of(selection: Selection) -> source_queries.MeterFilter:
    return source_queries.MeterFilter(
        {service for service, _ in selection.refs}, {resource for _, resource in selection.refs}
    )


def known_since(engine: Engine, project: str) -> int | None:
    """Returns since when the project (UUID) has an account; None if it has none."""
    state = accounts.state(engine)
    names = usage_sources.names(engine, [project]).get(project)
    return max(state.begun_at, names[0].since) if state and names else None


def kept_since(limes: Limes, granularity: Granularity, now: int) -> int:
    """Returns since when single hours or days are kept; months are kept forever."""
    keep = limes.settings.metering
    days = {Granularity.HOUR: keep.keep_hours, Granularity.DAY: keep.keep_days}.get(granularity)
    return 0 if days is None else day_of(now) - days * DAY


def read_points(limes: Limes, project: str, query: entries.UsageQuery, now: int) -> Points:
    """Returns what the account of a project (UUID) says, without times about which nothing is known. To be called
    inside a transaction; it takes ten queries at most."""
    state, since = accounts.state(limes.engine), known_since(limes.engine, project)
    if state is None or since is None or query.begin >= query.end:
        return {}
    begin, end, granularity = query.begin, query.end, query.granularity
    window = sources.window_at(limes, state, now)
    known = sources.load_sources(limes.engine, [project], begin, end, granularity, window, only=query.only)
    times = [bucket for bucket in buckets(begin, end, granularity) if bucket.end > since]
    found: Points = {}
    for zones in known.resources():
        counted = [*zip(times, known.accounts(zones, times), strict=True)]
        for meter in zones if query.every_az else zones[:1]:
            # the largest values of AZs were hardly reached at the same time, so they are given for one AZ only
            is_single = query.every_az or len(zones) == 1
            accounts_of = [
                (
                    bucket,
                    by_az[meter].account if is_single else rules.add_zones([each.account for each in by_az.values()]),
                )
                for bucket, by_az in counted
            ]
            key = ((meter.service, meter.resource), meter.az if query.every_az else "")
            found[key] = _points(accounts_of, since, now)
    return found


def _points(accounts_of: Sequence[tuple[Bucket, rules.Account]], since: int, now: int) -> dict[int, Point]:
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


def quota_at(quotas: Iterable[QuotaRow], end: int) -> int | None:
    return next((row.quota for row in quotas if row.since < end and (row.until is None or row.until >= end)), None)


class Times(NamedTuple):
    """What is asked for, in seconds since the epoch; `days` are those before the end of today."""

    days: int | None = None
    begin: int | None = None
    end: int | None = None


class GrowthOfResource(Struct, frozen=True):
    """The oldest point first. `az` is empty for all of them together."""

    named: NamedResource
    az: str
    points: list[Point]
    since: int
    """When the oldest data begin of the resource, whatever was asked for."""


class Growth(NamedTuple):
    """The data, in the order of reports."""

    granularity: Granularity
    resources: list[GrowthOfResource]


_DEFAULT_DAYS = {Granularity.HOUR: 1, Granularity.DAY: 30, Granularity.MONTH: 366}


@snapshot
def report_growth(
    limes: Limes,
    place: Place,
    selection: Selection,
    granularity: Granularity | None,
    times: Times,
    *,
    every_az: bool = False,
) -> Growth:
    """Returns the data, with a fixed number of queries; without a granularity, with one that suits the data. Raises
    `NotFound` and `BadRequest`."""
    now = int(limes.now())
    scope, resources = scope_of(limes.engine, place), named_resources(limes.engine, selection)
    named = {each.ref: each for each in resources.values()}
    since = _since(limes, place, named)
    if granularity is None:
        granularity, times = _suit(limes, times, since, now)
    begin, end = _whole(limes, times, granularity, now)
    found: Points = defaultdict(dict)
    if granularity is Granularity.DAY and not every_az:
        for row in commitment_figures.by_day(limes.engine, scope, list(resources), begin // DAY):
            if (day := row.day * DAY) < end:
                found[resources[row.resource_id].ref, ""][day] = Point(day, row.usage, row.committed)
    if not place.project_uuid:
        samples = growth_history.growth_history(
            limes.engine, place.domain_uuid, granularity, begin, end, every_az=every_az
        )
        for (service, resource, az), points in samples.items():
            found[(service, resource), az].update((point.begins, point) for point in points)
    else:
        query = entries.UsageQuery(begin, end, granularity, only=wanted_of(selection), every_az=every_az)
        _add_account(limes, found, place.project_uuid, query, now)
    order = {ref: position for position, ref in enumerate(named)}
    known = [(ref, az, points) for (ref, az), points in found.items() if ref in named and points]
    shown = []
    for ref, az, by_time in sorted(known, key=lambda each: (order[each[0]], limes.catalog.az_order(each[1]))):
        in_order = [point for _, point in sorted(by_time.items())]
        shown.append(GrowthOfResource(named[ref], az, in_order, since.get(ref, in_order[0].begins)))
    return Growth(granularity, shown)


def _since(limes: Limes, place: Place, named: Mapping[Ref, NamedResource]) -> dict[Ref, int]:
    first = growth_history.first_times(limes.engine)
    started = first.sample
    if not place.project_uuid:
        since = growth_history.first_samples(limes.engine, place.domain_uuid)
    else:
        state, known = accounts.state(limes.engine), known_since(limes.engine, place.project_uuid)
        started = state.begun_at if state else None
        since = {} if known is None else dict.fromkeys(named, known)
    if first.commitment_use is None:
        return since
    # what was there when sampling began may have been there before
    older = [ref for ref in named if limes.catalog.behavior(ref).commitment_durations]
    older = [ref for ref in older if started is None or since.get(ref, 0) <= started + DAY]
    return since | {ref: min(first.commitment_use, since.get(ref, first.commitment_use)) for ref in older}


def _first_day(times: Times, granularity: Granularity, now: int) -> int:
    return day_of(now) - ((times.days or _DEFAULT_DAYS[granularity]) - 1) * DAY


def _suit(limes: Limes, times: Times, since: Mapping[Ref, int], now: int) -> tuple[Granularity, Times]:
    """Returns hours for a day of data, else days as far as they are kept; and the times from where data begin."""
    begin = _first_day(times, Granularity.DAY, now) if times.begin is None else times.begin
    end = now if times.end is None else times.end
    begin = max(begin, min([*since.values(), end - 1]))
    granularity = Granularity.MONTH
    if end - begin <= DAY and begin >= kept_since(limes, Granularity.HOUR, now):
        granularity = Granularity.HOUR
    elif begin >= kept_since(limes, Granularity.DAY, now):
        granularity = Granularity.DAY
    return granularity, times._replace(begin=begin)


def _whole(limes: Limes, times: Times, granularity: Granularity, now: int) -> tuple[int, int]:
    """Returns from when to when, as whole hours, days or months."""
    kept = kept_since(limes, granularity, now)
    if times.begin is None:
        begin = _first_day(times, granularity, now)
        begin = max(begin, kept) if granularity is Granularity.HOUR else begin
    else:
        begin = times.begin
        if begin > now:
            raise BadRequest(f"query parameter from: expected no time in the future; it is {render_time(now)} now")
        if begin < kept:
            raise BadRequest(
                f"query parameter from: single {granularity.value}s are kept from {render_time(kept)} on; ask for"
                f" longer times with `granularity`, or for later ones"
            )
    until = now + 1 if times.end is None else times.end
    if until <= begin:
        raise BadRequest("query parameter until: expected a time after `from`")
    return bucket_of(begin, granularity).begin, bucket_of(min(until - 1, now), granularity).end


def _add_account(limes: Limes, found: Points, project: str, query: entries.UsageQuery, now: int) -> None:
    # the account says nothing about single days that are not kept any more
    query = structs.replace(query, begin=max(query.begin, kept_since(limes, query.granularity, now)))
    quotas = quotas_of_project(limes.engine, project, query.begin, query.end)
    for (ref, az), points in read_points(limes, project, query, now).items():
        for begins, point in points.items():
            quota = None if query.every_az else quota_at(quotas.get(ref, ()), bucket_of(begins, query.granularity).end)
            found[ref, az][begins] = point._replace(quota=quota)
