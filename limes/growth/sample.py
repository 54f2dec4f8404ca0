"""Takes samples of usage, quota, commitments and capacity of the cluster and of all domains.

Invariant: the row of `growth_state` is locked while a sample is taken, and one transaction writes the sample and the
day and month that it is part of. So in each state of the database, the present day is what its hours say, and the
present month what its days say, whatever happens to a collector, and however many there are. What is over does not
change.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import partial

from msgspec import Struct

from limes.app.context import Limes
from limes.catalog.catalog import ANY_AZ, Ref
from limes.catalog.queries import capacities, resource_ids
from limes.commitments.commitment import Status
from limes.db.transactions import atomic
from limes.growth import queries as growth_history
from limes.growth import rules, sample_queries
from limes.growth import sample_queries as queries
from limes.growth.queries import first_times
from limes.kernel.calendar import DAY, HOUR, day_of, month_of, next_month, render_time
from limes.kernel.errors import Unavailable
from limes.kernel.units import MAX_STORED, effective_capacity, effective_total
from limes.projects.queries import domains
from limes.projects.scrapes import Scrape
from limes.quota.queries import domain_quotas_by_resource
from limes.usage import project_sums
from limes.usage import sums as stored_sums

_LEVELS: tuple[project_sums.Level, ...] = ("cluster", "domain")
_CLUSTER = 0
_PUT_BACK = 31 * DAY
"""A clock that was ahead may be put back by so much to before the first sample."""
_SERIES = 200
"""Whose trends are computed together: their days take about 5 MiB."""
ALL_AZS = ""
_PROJECTS = 250
"""Whose quotas are noted together. With 50 resources, they take about 10 MiB while the first quotas are noted."""


class _Figures(Struct):
    usage: int = 0
    committed: int = 0
    quota: int | None = None
    capacity: int | None = None

    def as_sample(self) -> sample_queries.Sample:
        quota, capacity = self.quota, self.capacity
        return sample_queries.Sample(
            min(self.usage, MAX_STORED),
            min(self.committed, MAX_STORED),
            None if quota is None else min(quota, MAX_STORED),
            None if capacity is None else min(capacity, MAX_STORED),
        )

    @property
    def is_nothing(self) -> bool:
        return not (self.usage or self.committed or self.quota or self.capacity)


_Places = dict[tuple[int, Ref, str], _Figures]
"""By domain (0: the cluster), resource and AZ."""


def sample_growth(limes: Limes) -> None:
    """The job. Several may run it at once."""
    engine = limes.engine
    engine.atomic(partial(queries.begin, engine))
    _take_sample(limes)
    note_quotas(limes)
    _compute_trends_if_due(limes)


@atomic
def _take_sample(limes: Limes) -> None:
    engine = limes.engine
    state = queries.lock_state(engine)
    now = int(limes.now())
    if state.sampled_at > now:
        # a machine that starts with a clock of years ago must not take all that was ever sampled for yet to come
        first = first_times(engine).sample
        if first is not None and now < first - _PUT_BACK:
            begun, says = render_time(first), render_time(now)
            raise Unavailable(f"growth has been sampled since {begun}, but the clock says {says}: nothing is done")
        queries.forget_future(engine, now)
    known = queries.series_ids(engine)
    figures = _read(limes, now, known)
    unknown = [key for key, found in figures.items() if key not in known and not found.is_nothing]
    if unknown:
        queries.add_series(engine, unknown)
        known = queries.series_ids(engine)
    samples = [(known[key], found.as_sample()) for key, found in figures.items() if key in known]
    queries.write_hour(engine, now - now % HOUR, samples)
    month = month_of(now)
    queries.roll_up(engine, day_of(now), month, next_month(month))
    _forget(limes, now)
    queries.note_sample(engine, now)


def _forget(limes: Limes, now: int) -> None:
    keep, today = limes.settings.metering, day_of(now)
    months_before = None if keep.keep_months is None else month_of(now) - keep.keep_months * 31 * DAY
    days_before = today - keep.keep_days * DAY
    queries.forget(limes.engine, today - keep.keep_hours * DAY, days_before, months_before)
    queries.forget_quotas(limes.engine, days_before if months_before is None else months_before)


def _read(
    limes: Limes, now: int, known: Collection[sample_queries.SeriesKey]
) -> dict[sample_queries.SeriesKey, _Figures]:
    """Returns the figures of this moment, in ten queries: zeros where nothing is found any more of what is
    `known`."""
    engine = limes.engine
    ids = resource_ids(engine)
    refs = {ids[ref]: ref for ref in limes.catalog.refs() if ref in ids}
    scopes = {_CLUSTER: "", **{row.id: row.uuid for row in domains(engine)}}
    found: _Places = defaultdict(_Figures)
    for level in _LEVELS:
        _add_usage(limes, found, refs, level)
        sums = stored_sums.committed_sums(engine, list(refs), now, level, project_sums.ALL_PROJECTS)
        for (id_, resource, az, status, _), amount in sums.items():
            if status == Status.CONFIRMED:
                for place in {ALL_AZS, az} - {ANY_AZ}:
                    found[id_, refs[resource], place].committed += int(amount)
    _add_domain_quotas(limes, found, refs)
    _add_capacity(limes, found, refs)
    # a domain may have been deleted between two of the queries
    figures = {
        sample_queries.SeriesKey(scopes[id_], *ref, az): each for (id_, ref, az), each in found.items() if id_ in scopes
    }
    present, configured = set(scopes.values()), set(refs.values())
    for key in known:
        if key.scope in present and (key.service, key.resource) in configured:
            figures.setdefault(key, _Figures())
    return figures


def _add_usage(limes: Limes, found: _Places, refs: Mapping[int, Ref], level: project_sums.Level) -> None:
    ids = list(refs)
    for total in stored_sums.resource_sums(limes.engine, ids, level, project_sums.ALL_PROJECTS):
        figures, ref = found[total.key, refs[total.resource_id], ALL_AZS], refs[total.resource_id]
        figures.usage = int(total.usage)
        if limes.catalog.autogrow(ref) and total.quota is not None:
            figures.quota = int(total.quota)  # domains are not given such quota
    for (id_, resource, az), in_az in stored_sums.az_usage_sums(
        limes.engine, ids, level, project_sums.ALL_PROJECTS
    ).items():
        if az != ANY_AZ:
            found[id_, refs[resource], az].usage = int(in_az.usage)


def _add_domain_quotas(limes: Limes, found: _Places, refs: Mapping[int, Ref]) -> None:
    given = {}
    for id_, ref in refs.items():
        resource = limes.catalog.find(ref)
        if resource is not None and resource.tracks_quota and not limes.catalog.autogrow(ref):
            given[id_] = ref
    for (domain, resource_id), quota in domain_quotas_by_resource(limes.engine, list(given)).items():
        for scope in (domain, _CLUSTER):
            figures = found[scope, given[resource_id], ALL_AZS]
            figures.quota = (figures.quota or 0) + quota


def _add_capacity(limes: Limes, found: _Places, refs: Mapping[int, Ref]) -> None:
    raw: dict[Ref, dict[str, int]] = defaultdict(dict)
    for row in capacities(limes.engine, list(refs)):
        raw[refs[row.resource_id]][row.az] = row.raw_capacity
    for ref, by_az in raw.items():
        factor = limes.catalog.behavior(ref).overcommit_factor
        found[_CLUSTER, ref, ALL_AZS].capacity = effective_total(by_az.values(), factor)
        for az, amount in by_az.items():
            if az != ANY_AZ:
                found[_CLUSTER, ref, az].capacity = effective_capacity(amount, factor)


def note_quotas(limes: Limes) -> None:
    """Notes when quotas of projects have changed, some projects at a time, so that memory is bounded in any cloud. A
    sample was taken before.

    Invariant: the row of `growth_state` is locked while the quotas of a piece are noted, and one transaction writes
    all of it. What has changed is found by comparing the noted quotas with the present ones. So a piece that was not
    reached, because the process was killed, is noted by the next run, and of two that do the same piece at once, the
    second one finds nothing to note. The time is that of the last sample, from any process: so times never go back,
    unless a sample has found that the clock did, and has forgotten what was ahead of it.
    """
    last: str | None = ""
    while last is not None:
        last = _note_piece(limes, last)


@atomic
def _note_piece(limes: Limes, after: str) -> str | None:
    """Returns the last project of the piece, None after the last piece."""
    now = queries.lock_state(limes.engine).sampled_at
    piece = queries.piece_after(limes.engine, after, _PROJECTS)
    queries.note_changes(limes.engine, now, piece)
    return piece.last


# -- trends ------------------------------------------------------------------------------------------------------------


def _compute_trends_if_due(limes: Limes) -> None:
    """Computes how usage of each resource has grown in the last months, unless that was done today.
    Invariant: the trend of a series is computed from closed days only, so that it does not matter which collector does
    it, or how often. Several may do it at once."""
    engine, now = limes.engine, int(limes.now())
    state = engine.snapshot(partial(queries.state, engine))
    if day_of(state.trends_at) == day_of(now):
        return
    last = 0
    while ids := engine.snapshot(partial(growth_history.series_after, engine, last, _SERIES)):
        today, last = day_of(now), ids[-1]
        days = engine.snapshot(partial(growth_history.days_of, engine, ids, today - rules.LOOK_BACK * DAY, today))
        rows = [_trend_row(id_, today, days.get(id_, ())) for id_ in ids]
        engine.atomic(partial(growth_history.write_trends, engine, rows))
    engine.atomic(partial(queries.note_trends, engine, now))


def _trend_row(id_: int, today: int, usage: Sequence[tuple[int, int]]) -> tuple[float | None, ...]:
    if len(usage) < rules.MIN_DAYS:
        return (id_, today, len(usage), None, None, None, None)
    trend = rules.trend_of(today, usage)
    return (id_, today, len(usage), trend.level, trend.growth, trend.lowest, trend.highest)


# -- samples that are not due yet --------------------------------------------------------------------------------------
# Soon after the first figures of something, a sample is taken, so that a new cloud, domain or service has a chart after
# 15 seconds instead of half an hour.
#
# Invariant: of a resource that is new in a domain, the first figures of each project are in a sample that becomes due
# 15 seconds later at the latest, or were in one before; and so is the first capacity of a resource that is new in the
# cloud. The scrape asks for the sample once its figures are stored. If a sample is being taken just then, which has not
# seen them, asking ends its claim, so the job runs once more. After the first hour of a resource in a domain nothing is
# asked for any more, and only scrapes of capacity, and those that find the first figures of a project, look whether
# that is so: with one statement.

JOB = "growth"
"""What the job that takes samples is called."""
SOON = 15.0
"""Seconds, so that one sample has the figures of many projects."""


def sample_projects(limes: Limes, scrapes: Sequence[Scrape]) -> None:
    """Asks if something of a project is used or granted, and nothing was before."""
    first: dict[str, set[int]] = defaultdict(set)
    for scrape in scrapes:
        stored = scrape.stored.resources
        for id_, row in scrape.changes.resources.items():
            if (row.usage or row.quota) and not (id_ in stored and (stored[id_].usage or stored[id_].quota)):
                first[scrape.task.domain_uuid].add(id_)
    now = scrapes[0].now
    for domain, resources in first.items():
        # within the hour, other projects of the domain may have been sampled, but not this one
        _ask(limes, domain, resources, now, int(now) - int(now) % HOUR)


def sample_capacity(limes: Limes, resources: Collection[int], now: float) -> None:
    """Asks if these resources are new in the cloud. Inside the transaction that writes their capacity."""
    _ask(limes, "", resources, now, int(now) + 1)


def _ask(limes: Limes, scope: str, resources: Collection[int], now: float, sampled_before: int) -> None:
    engine = limes.engine

    def ask() -> None:
        engine.atomic(partial(queries.bring_forward, engine, JOB, now + SOON, scope, resources, sampled_before))

    if resources:
        engine.after_commit(ask)
