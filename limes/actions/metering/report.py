"""Tells what was used and committed over a time, in hours, days, months or as a total."""

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from typing import NamedTuple

from limes.actions.lookup import find_domain, find_project
from limes.actions.metering.close import DEFAULT_RETENTION, Retention
from limes.actions.metering.sources import Counted, Horizon, Sources, load_sources
from limes.actions.metering.usage import VALID_FOR
from limes.core.metering.account import Account, add
from limes.core.metering.calendar import (
    DAY,
    Bucket,
    Granularity,
    begins_bucket,
    buckets,
    day_of,
    next_month,
    render_time,
)
from limes.db.engine import Engine
from limes.db.queries import usage_accounts as accounts
from limes.db.queries import usage_sources as sources
from limes.db.queries.usage_accounts import CorrectionRow, State
from limes.db.queries.usage_sources import EVERYTHING, Meter, NameRow, Only
from limes.errors import BadRequest
from limes.system import Clock

_PROJECTS = {Granularity.MONTH: 100, Granularity.DAY: 20, Granularity.HOUR: 5}
"""Whose accounts are computed together, by the shortest time that is told."""
_ONE_MONTH: Mapping[str, int] = {"month": 1}
_NONE: Mapping[str, int] = {}
_BUCKETS = 20_000
"""Projects times hours, days or months on one page."""


@dataclass(frozen=True, slots=True)
class UsageQuery:
    """What is asked for. None means "all"; times are seconds since the epoch."""

    begin: int
    end: int
    granularity: Granularity
    domains: Sequence[str] | None = None
    projects: Sequence[str] | None = None
    only: Only = EVERYTHING
    marker: str = ""
    limit: int | None = None
    """At most so many projects."""


class UsageEntry(NamedTuple):
    """What one project used of one resource in one AZ, in one time."""

    names: NameRow
    """What the project was called at the end."""
    meter: Meter
    begin: int
    end: int
    account: Account
    closed: Mapping[str, int]
    """From how many closed hours, days and months the account comes, by granularity."""
    open: Mapping[str, int]
    """The same of those that are not closed yet."""
    version: int
    """More than 1 if something of it was corrected after it was closed."""
    corrections: Sequence[tuple[int, str]] = ()
    """When that was, and why."""


@dataclass(frozen=True, slots=True)
class UsagePage:
    """The projects of one page, and what is to be told of them."""

    query: UsageQuery
    state: State
    projects: Sequence[str]
    next: str | None
    """The marker of the next page, if there is one."""


@dataclass(frozen=True, slots=True)
class ReportUsage:
    """The use case with what it works with."""

    engine: Engine
    clock: Clock
    valid_for: float = VALID_FOR
    retention: Retention = DEFAULT_RETENTION

    def page(self, query: UsageQuery) -> UsagePage:
        """Checks the query and finds its projects. Raises `BadRequest`."""
        return self.engine.snapshot(lambda: self._page(query))

    def _page(self, query: UsageQuery) -> UsagePage:
        state = accounts.state(self.engine)
        if state is None:
            raise BadRequest("there is no account of usage yet: no collector has run so far")
        times = self._check(query, state)
        most = max(1, _BUCKETS // len(times))
        limit = most if query.limit is None else min(query.limit, most)
        found = sources.project_page(
            self.engine, query.begin, query.end, query.marker, limit + 1, query.domains, query.projects
        )
        projects = found[:limit]
        return UsagePage(query, state, projects, projects[-1] if len(found) > limit else None)

    def require(self, domain: str, project: str | None = None) -> None:
        """Raises `NotFound` for a domain or project (by UUID) that was never known."""
        self.engine.snapshot(lambda: self._require(domain, project))

    def _require(self, domain: str, project: str | None) -> None:
        projects = None if project is None else [project]
        if sources.project_page(self.engine, 0, 2**62, "", 1, [domain], projects):
            return
        if project is None:
            find_domain(self.engine, domain)
        else:
            find_project(self.engine, domain, project)

    def entries(self, page: UsagePage) -> Generator[list[UsageEntry], None, None]:
        """Returns what is to be told, some projects at a time, all from one state of the database. Nothing is told of
        times in which nothing was used or committed, which was known."""
        return self.engine.snapshot_stream(lambda: self._entries(page))

    def _entries(self, page: UsagePage) -> Iterator[list[UsageEntry]]:
        query = page.query
        now = int(self.clock.now().timestamp())
        times = [bucket for bucket in buckets(query.begin, query.end, query.granularity) if bucket.begin < now]
        if not times:
            return
        finest = _finest(times)
        size = _PROJECTS[finest]
        state = accounts.state(self.engine) or page.state  # as it is in this transaction
        for start in range(0, len(page.projects), size):
            projects = page.projects[start : start + size]
            if query.granularity is Granularity.MONTH and query.end <= state.closed_until:
                yield self._with_corrections(self._closed_months(query, projects), query, projects)
                continue
            horizon = Horizon(now, state.closed_until, self.valid_for)
            known = load_sources(self.engine, projects, query.begin, query.end, finest, horizon, only=query.only)
            names = sources.names(self.engine, projects)
            yield self._with_corrections(list(self._of_sources(known, names, query, times, state)), query, projects)

    def _with_corrections(
        self, entries: list[UsageEntry], query: UsageQuery, projects: Sequence[str]
    ) -> list[UsageEntry]:
        """Returns the entries, those of corrected times with the reasons."""
        if all(entry.version == 1 for entry in entries):
            return entries
        found: dict[Meter, list[CorrectionRow]] = {}
        for row in accounts.corrections(self.engine, projects, query.begin, query.end):
            found.setdefault(row.meter, []).append(row)
        return [
            entry if entry.version == 1 else entry._replace(corrections=_reasons(entry, found.get(entry.meter, ())))
            for entry in entries
        ]

    def _closed_months(self, query: UsageQuery, projects: Sequence[str]) -> list[UsageEntry]:
        """Returns what is stored: that is all, and the fastest way to it."""
        names = sources.names(self.engine, projects)
        rows = sources.month_rows(self.engine, projects, query.begin, query.end, query.only)
        ends: dict[int, int] = {}
        found = []
        for meter, (begin, account, version, _) in sorted(rows):
            if account.is_nothing:
                continue
            end = ends.get(begin) or ends.setdefault(begin, next_month(begin))
            called = _name_at(names[meter.project], end)
            found.append(UsageEntry(called, meter, begin, end, account, _ONE_MONTH, _NONE, version))
        return found

    def _of_sources(
        self,
        known: Sources,
        names: Mapping[str, Sequence[NameRow]],
        query: UsageQuery,
        times: Sequence[Bucket],
        state: State,
    ) -> Iterator[UsageEntry]:
        is_total = query.granularity is Granularity.TOTAL
        for meter in known.meters():
            counted = list(zip(times, known.accounts(meter, times), strict=True))
            for parts in [counted] if is_total else [[part] for part in counted]:
                entry = _entry(names[meter.project], meter, parts, state)
                if not entry.account.is_nothing:
                    yield entry

    def _check(self, query: UsageQuery, state: State) -> list[Bucket]:
        """Returns the times of a query that can be answered. Raises `BadRequest`."""
        if query.begin >= query.end:
            raise BadRequest("query parameter until: expected a time after `from`")
        named = "hour" if query.granularity is Granularity.TOTAL else query.granularity.value
        for name, time in (("from", query.begin), ("until", query.end)):
            if not begins_bucket(time, query.granularity):
                raise BadRequest(
                    f"query parameter {name}: expected the beginning of a {named} (UTC), not {render_time(time)}"
                )
        now = int(self.clock.now().timestamp())
        if query.begin > now:
            raise BadRequest(f"query parameter from: expected no time in the future; it is {render_time(now)} now")
        if query.end > _end_of_next_year(now):
            raise BadRequest("query parameter until: expected no time after the end of next year")
        times = list(buckets(query.begin, query.end, query.granularity))
        self._check_retention(times, state, now)
        return times

    def _check_retention(self, times: Sequence[Bucket], state: State, now: int) -> None:
        today, keep = day_of(now), self.retention
        limits = {
            Granularity.HOUR: ("single hours are", today - keep.hours * DAY),
            Granularity.DAY: ("single days are", today - keep.days * DAY),
        }
        if times[0].end <= state.begun_at:
            raise BadRequest(
                f"query parameter from: the account of usage begins on {render_time(state.begun_at)};"
                f" there is none before"
            )
        for bucket in times:
            what, since = limits.get(bucket.granularity, ("", bucket.begin))
            if bucket.begin < since:
                raise BadRequest(
                    f"query parameter from: {what} kept from {render_time(since)} on; ask for longer times"
                    f" with `granularity`, or for later ones"
                )


def _finest(times: Sequence[Bucket]) -> Granularity:
    found = {bucket.granularity for bucket in times}
    return next(each for each in (Granularity.HOUR, Granularity.DAY, Granularity.MONTH) if each in found)


def _end_of_next_year(now: int) -> int:
    return int(datetime(datetime.fromtimestamp(now, UTC).year + 2, 1, 1, tzinfo=UTC).timestamp())


def _entry(names: Sequence[NameRow], meter: Meter, parts: Sequence[tuple[Bucket, Counted]], state: State) -> UsageEntry:
    begin, end = parts[0][0].begin, parts[-1][0].end
    account = reduce(add, [counted.account for _, counted in parts])
    closed = Counter(bucket.granularity.value for bucket, _ in parts if bucket.end <= state.closed_until)
    still_open = Counter(bucket.granularity.value for bucket, _ in parts if bucket.end > state.closed_until)
    version = max(counted.version for _, counted in parts)
    return UsageEntry(_name_at(names, end), meter, begin, end, account, closed, still_open, version)


def _reasons(entry: UsageEntry, rows: Sequence[CorrectionRow]) -> list[tuple[int, str]]:
    """Returns when and why what an entry comes from was corrected."""
    told = {*entry.closed, *entry.open}
    return [
        (row.corrected_at, row.reason)
        for row in rows
        if row.granularity in told and entry.begin <= row.begins < entry.end
    ]


def _name_at(names: Sequence[NameRow], end: int) -> NameRow:
    """Returns what the project was called at the end of a time."""
    return next((row for row in reversed(names) if row.since < end), names[0])
