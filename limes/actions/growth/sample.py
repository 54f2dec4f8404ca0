"""Takes samples of usage, quota, commitments and capacity of the cluster and of all domains.

Invariant: the row of `growth_state` is locked by whoever takes a sample, and one transaction writes the sample and the
day and month that it is part of. So in each state of the database, the present day is what its hours say, and the
present month what its days say, whatever happens to a collector, and however many there are. What is over does not
change.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial

from limes.actions.growth.trends import compute_trends_if_due
from limes.actions.metering.close import DEFAULT_RETENTION, Retention
from limes.core.capacity import effective, effective_total
from limes.core.catalog import ANY_AZ, Catalog, Ref
from limes.core.commitments.commitment import Status
from limes.core.metering.calendar import DAY, HOUR, day_of, month_of, next_month, render_time
from limes.core.units import MAX_STORED
from limes.db.engine import Engine
from limes.db.queries import growth_samples as queries
from limes.db.queries import kept_sums
from limes.db.queries.capacity import capacities
from limes.db.queries.catalog import resource_ids
from limes.db.queries.domain_quotas import domain_quotas_by_resource
from limes.db.queries.growth_history import first_times
from limes.db.queries.growth_samples import Sample, SeriesKey
from limes.db.queries.project_sums import Among, Level
from limes.db.queries.projects import domains
from limes.errors import Unavailable
from limes.system import Clock

_EVERYWHERE = Among("domain", None)
_LEVELS: tuple[Level, ...] = ("cluster", "domain")
_CLUSTER = 0
_PUT_BACK = 31 * DAY
"""A clock that was ahead may be put back by so much to before the first sample."""
ALL_AZS = ""
_PROJECTS = 250
"""Whose quotas are noted together. With 50 resources, they take about 10 MiB while the first quotas are noted."""


@dataclass(slots=True)
class _Figures:
    """A sample in the making."""

    usage: int = 0
    committed: int = 0
    quota: int | None = None
    capacity: int | None = None

    def as_sample(self) -> Sample:
        quota, capacity = self.quota, self.capacity
        return Sample(
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


@dataclass(frozen=True, slots=True)
class SampleGrowth:
    """The job with what it works with."""

    engine: Engine
    catalog: Catalog
    clock: Clock
    retention: Retention = DEFAULT_RETENTION

    def run(self) -> None:
        """The job. Several may run it at once."""
        self.engine.atomic(lambda: queries.begin(self.engine))
        self.engine.atomic(self._take_sample)
        NoteQuotas(self.engine).run()
        compute_trends_if_due(self.engine, self._now())

    def _now(self) -> int:
        return int(self.clock.now().timestamp())

    def _take_sample(self) -> None:
        engine = self.engine
        state = queries.lock_state(engine)
        now = self._now()
        if state.sampled_at > now:
            self._check_clock(now)
            queries.forget_future(engine, now)
            queries.forget_future_quotas(engine, now)
        known = queries.series_ids(engine)
        figures = self._read(now, known)
        unknown = [key for key, found in figures.items() if key not in known and not found.is_nothing]
        if unknown:
            queries.add_series(engine, unknown)
            known = queries.series_ids(engine)
        samples = [(known[key], found.as_sample()) for key, found in figures.items() if key in known]
        queries.write_hour(engine, now - now % HOUR, samples)
        month = month_of(now)
        queries.roll_up(engine, day_of(now), month, next_month(month))
        self._forget(now)
        queries.note_sample(engine, now)

    def _check_clock(self, now: int) -> None:
        """A machine that starts with a clock of years ago must not take all that was ever sampled for yet to come."""
        first = first_times(self.engine).sample
        if first is not None and now < first - _PUT_BACK:
            begun, says = render_time(first), render_time(now)
            raise Unavailable(f"growth has been sampled since {begun}, but the clock says {says}: nothing is done")

    def _forget(self, now: int) -> None:
        keep, today = self.retention, day_of(now)
        months_before = None if keep.months is None else month_of(now) - keep.months * 31 * DAY
        days_before = today - keep.days * DAY
        queries.forget(self.engine, today - keep.hours * DAY, days_before, months_before)
        queries.forget_quotas(self.engine, days_before if months_before is None else months_before)

    def _read(self, now: int, known: Collection[SeriesKey]) -> dict[SeriesKey, _Figures]:
        """Returns the figures of this moment, in ten queries: zeros where nothing is found any more of what is
        `known`."""
        engine = self.engine
        ids = resource_ids(engine)
        refs = {ids[ref]: ref for ref in self.catalog.refs() if ref in ids}
        scopes = {_CLUSTER: "", **{row.id: row.uuid for row in domains(engine)}}
        found: _Places = defaultdict(_Figures)
        for level in _LEVELS:
            self._add_usage(found, refs, level)
            self._add_committed(found, refs, level, now)
        self._add_domain_quotas(found, refs)
        self._add_capacity(found, refs)
        # a domain may have been deleted between two of the queries
        figures = {SeriesKey(scopes[id_], *ref, az): each for (id_, ref, az), each in found.items() if id_ in scopes}
        present, configured = set(scopes.values()), set(refs.values())
        for key in known:
            if key.scope in present and (key.service, key.resource) in configured:
                figures.setdefault(key, _Figures())
        return figures

    def _add_usage(self, found: _Places, refs: Mapping[int, Ref], level: Level) -> None:
        ids = list(refs)
        for total in kept_sums.resource_sums(self.engine, ids, level, _EVERYWHERE):
            figures, ref = found[total.key, refs[total.resource_id], ALL_AZS], refs[total.resource_id]
            figures.usage = int(total.usage)
            if self.catalog.autogrow(ref) and total.quota is not None:
                figures.quota = int(total.quota)  # nobody gives such quota to domains
        for in_az in kept_sums.az_usage_sums(self.engine, ids, level, _EVERYWHERE):
            if in_az.az != ANY_AZ:
                found[in_az.key, refs[in_az.resource_id], in_az.az].usage = int(in_az.usage)

    def _add_committed(self, found: _Places, refs: Mapping[int, Ref], level: Level, now: int) -> None:
        for row in kept_sums.committed_sums(self.engine, list(refs), now, level, _EVERYWHERE):
            if row.status == Status.CONFIRMED:
                for az in {ALL_AZS, row.az} - {ANY_AZ}:
                    found[row.key, refs[row.resource_id], az].committed += int(row.amount)

    def _add_domain_quotas(self, found: _Places, refs: Mapping[int, Ref]) -> None:
        given = {id_: ref for id_, ref in refs.items() if self._has_domain_quota(ref)}
        for (domain, resource), quota in domain_quotas_by_resource(self.engine, list(given)).items():
            for scope in (domain, _CLUSTER):
                figures = found[scope, given[resource], ALL_AZS]
                figures.quota = (figures.quota or 0) + quota

    def _has_domain_quota(self, ref: Ref) -> bool:
        resource = self.catalog.find(ref)
        return resource is not None and resource.tracks_quota and not self.catalog.autogrow(ref)

    def _add_capacity(self, found: _Places, refs: Mapping[int, Ref]) -> None:
        raw: dict[Ref, dict[str, int]] = defaultdict(dict)
        for row in capacities(self.engine, list(refs)):
            raw[refs[row.resource_id]][row.az] = row.raw_capacity
        for ref, by_az in raw.items():
            factor = self.catalog.behavior(ref).overcommit_factor
            found[_CLUSTER, ref, ALL_AZS].capacity = effective_total(by_az.values(), factor)
            for az, amount in by_az.items():
                if az != ANY_AZ:
                    found[_CLUSTER, ref, az].capacity = effective(amount, factor)


@dataclass(frozen=True, slots=True)
class NoteQuotas:
    """Notes when quotas of projects have changed, some projects at a time, so that memory is bounded in any cloud.

    Invariant: the row of `growth_state` is locked by whoever notes the quotas of a piece, and one transaction writes
    all of it. What has changed is found by comparing what was noted with what there is. So a piece that was not
    reached, because the process was killed, is noted by the next run, and of two that do the same piece at once, the
    second one finds nothing to note. The time is that of the last sample, whoever took it: so times never go back,
    unless a sample has found that the clock did, and has forgotten what was ahead of it.
    """

    engine: Engine
    projects: int = _PROJECTS
    """Of one piece."""

    def run(self) -> None:
        """Notes all changes since the last run. A sample was taken before."""
        last: str | None = ""
        while last is not None:
            last = self.engine.atomic(partial(self._note_piece, last))

    def _note_piece(self, after: str) -> str | None:
        """Returns the last project of the piece, None after the last piece."""
        now = queries.lock_state(self.engine).sampled_at
        piece = queries.piece_after(self.engine, after, self.projects)
        queries.note_changes(self.engine, now, piece)
        return piece.last
