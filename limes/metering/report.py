"""Reports what was used and committed over a time, in hours, days, months or as a total."""

from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import reduce
from itertools import groupby
from operator import itemgetter

from msgspec import Struct, structs

from limes.app.context import Limes
from limes.db.transactions import snapshot
from limes.kernel.calendar import Bucket, Granularity, buckets, month_of, previous_month
from limes.kernel.errors import Unavailable
from limes.metering import accounts, entries, rules
from limes.metering import queries as metering
from limes.metering import source_queries as sources
from limes.metering.accounts import AccountState, Correction
from limes.metering.entries import ClosedMonths, UsageEntry, UsageQuery
from limes.metering.source_queries import Meter, Month, Names, StoredAccount
from limes.metering.sources import Sources, VersionedAccount, load_sources, window_at
from limes.projects.scope import Place, find

_PROJECTS = {Granularity.MONTH: 100, Granularity.DAY: 20, Granularity.HOUR: 5}
"""How many projects are computed together, by the shortest time in the report."""
_BUCKETS = 20_000
"""Projects times hours, days or months on one page."""
Stored = Mapping[Meter, Sequence[StoredAccount]]
Later = dict[tuple[str, Meter, int], Correction]
"""What closed days and months said at the time that is asked for, and were corrected from later."""
Part = tuple[Bucket, VersionedAccount, str | None]
"""An account of a time, and its unit if that is known."""


class UsagePage(Struct, frozen=True):
    """The projects of one page, and what is to be reported about them."""

    query: UsageQuery
    state: AccountState
    projects: Sequence[str]
    next: str | None
    """The marker of the next page, if there is one."""


@snapshot
def find_page(limes: Limes, query: UsageQuery) -> UsagePage:
    """Checks the query and finds its projects. Raises `BadRequest`; `Unavailable` until a collector has run."""
    state = accounts.state(limes.engine)
    if state is None:
        raise Unavailable("there is no account of usage yet: no collector has run so far")
    closed_until = state.closed_until
    if query.as_of is not None and (day := accounts.first_closed_after(limes.engine, query.as_of)) is not None:
        closed_until = min(day, closed_until)  # as it was then
    times = entries.times_of(query, limes.settings.metering, int(limes.now()), state.begun_at, closed_until)
    most = max(1, _BUCKETS // len(times))
    limit = most if query.limit is None else min(query.limit, most)
    found = sources.project_page(
        limes.engine, query.begin, query.end, query.marker, limit + 1, query.domains, query.projects
    )
    projects = found[:limit]
    return UsagePage(query, state, projects, projects[-1] if len(found) > limit else None)


@snapshot
def require_known(limes: Limes, place: Place) -> None:
    """Raises `NotFound` for a domain or project that was never known."""
    projects = [place.project_uuid] if place.project_uuid else None
    if not sources.project_page(limes.engine, 0, 2**62, "", 1, [place.domain_uuid], projects):
        find(limes.engine, place)


def read_parts(limes: Limes, page: UsagePage) -> Generator[list[UsageEntry] | ClosedMonths, None, None]:
    """Yields the report, some projects at a time, all from one state of the database. Left out are times
    in which it is known that nothing was used or committed. What is stored for closed months is left as it is."""
    return limes.engine.snapshot_stream(lambda: _parts(limes, page))


def _parts(limes: Limes, page: UsagePage) -> Iterator[list[UsageEntry] | ClosedMonths]:
    query, now = page.query, int(limes.now())
    times = [bucket for bucket in buckets(query.begin, query.end, query.granularity) if bucket.begin < now]
    if not times:
        return
    found = {bucket.granularity for bucket in times}
    finest = next(each for each in (Granularity.HOUR, Granularity.DAY, Granularity.MONTH) if each in found)
    size = _PROJECTS[finest]
    state = accounts.state(limes.engine) or page.state  # as it is in this transaction
    units = metering.metered_units(limes.engine)
    # a total of several units is several entries
    is_one_entry = query.granularity is not Granularity.TOTAL or not units.differ([time.begin for time in times])
    is_stored = finest is Granularity.MONTH and query.end <= state.closed_until and is_one_entry
    for start in range(0, len(page.projects), size):
        projects = page.projects[start : start + size]
        if is_stored:
            yield _closed_months(limes, query, projects, times, units)
            continue
        window = window_at(limes, state, now)
        known = load_sources(limes.engine, projects, query.begin, query.end, finest, window, only=query.only)
        later = _later_corrections(limes, query, projects)
        days, months = _put_back(Granularity.DAY, known.days, later), _put_back(Granularity.MONTH, known.months, later)
        known = structs.replace(known, days=days, months=months)
        names = sources.names(limes.engine, projects)
        yield _with_corrections(limes, list(_of_sources(known, names, query, times, state, units)), query, projects)


def _closed_months(
    limes: Limes, query: UsageQuery, projects: Sequence[str], times: Sequence[Bucket], units: rules.MonthUnits
) -> ClosedMonths:
    """Returns what is stored: that is all, and the fastest way to it."""
    stored = sources.month_rows(limes.engine, projects, query.begin, query.end, query.only)
    # by code points, whatever the database's order is
    rows: Sequence[Month] = sorted(stored, key=itemgetter(slice(0, 5)))
    if later := _later_corrections(limes, query, projects):
        before = [later.get((Granularity.MONTH, Meter._make(row[:4]), row[4])) for row in rows]
        rows = [
            (*row[:5], *accounts.as_stored(old.account), old.version) if old else row
            for row, old in zip(rows, before, strict=True)
        ]
    if not query.every_az:
        rows = entries.add_up_zones(rows)
    ends = {bucket.begin: bucket.end for bucket in times}
    if is_total := query.granularity is Granularity.TOTAL:
        rows = entries.add_up(rows, [*ends])
        ends = {query.begin: query.end}
    rows = [row for row in rows if not entries.is_nothing(row)]
    found: dict[tuple[Meter, int], dict[tuple[int, str], None]] = defaultdict(dict)  # of several AZs, only once
    if max(map(itemgetter(-1), rows), default=1) > 1:
        for each in _corrections(limes, query, projects):
            if each.granularity == Granularity.MONTH:
                begin = query.begin if is_total else each.begins
                found[_told_of(query, each.meter), begin][each.corrected_at, each.reason] = None
    reasons = {key: [*each] for key, each in found.items()}
    months = len(times) if is_total else 1
    return ClosedMonths(rows, ends, months, sources.names(limes.engine, projects), reasons, units)


def _with_corrections(
    limes: Limes, told: list[UsageEntry], query: UsageQuery, projects: Sequence[str]
) -> list[UsageEntry]:
    """Returns the entries, those of corrected times with the reasons."""
    if all(entry.version == 1 for entry in told):
        return told
    found: dict[Meter, list[Correction]] = {}
    for row in _corrections(limes, query, projects):
        found.setdefault(_told_of(query, row.meter), []).append(row)
    return [entry._replace(corrections=_reasons(entry, found.get(entry.meter, ()))) for entry in told]


def _corrections(limes: Limes, query: UsageQuery, projects: Sequence[str]) -> list[Correction]:
    found = accounts.corrections(limes.engine, projects, query.begin, query.end)
    return [row for row in found if query.as_of is None or row.corrected_at <= query.as_of]


def _later_corrections(limes: Limes, query: UsageQuery, projects: Sequence[str]) -> Later:
    found: Later = {}
    if query.as_of is not None:
        begin = previous_month(month_of(query.begin))  # usage at the beginning comes from what was before
        for row in accounts.corrections(limes.engine, projects, begin, query.end):
            if row.corrected_at > query.as_of:  # of several, the first one knows what was said until then
                found.setdefault((row.granularity, row.meter, row.begins), row)
    return found


def _put_back(granularity: Granularity, stored: Stored, later: Later) -> Stored:
    """Returns the accounts as they were before they were corrected."""
    if not later:
        return stored
    found: dict[Meter, list[StoredAccount]] = {}
    for meter, rows in stored.items():
        told = [(row, later.get((granularity, meter, row.begin))) for row in rows]
        found[meter] = [row._replace(account=old.account, version=old.version) if old else row for row, old in told]
    return found


def _of_sources(
    known: Sources,
    names: Mapping[str, Sequence[Names]],
    query: UsageQuery,
    times: Sequence[Bucket],
    state: AccountState,
    units: rules.MonthUnits,
) -> Iterator[UsageEntry]:
    for zones in known.resources():
        counted = list(zip(times, known.accounts(zones, times), strict=True))
        wanted = zones if query.only.azs is None else [meter for meter in zones if meter.az in query.only.azs]
        for meter in wanted if query.every_az else [_told_of(query, zones[0])]:
            parts = [
                (bucket, by_az[meter] if query.every_az else _sum_of(by_az), units.at(zones[0][1:3], bucket.begin))
                for bucket, by_az in counted
            ]
            together = [[part] for part in parts]
            if query.granularity is Granularity.TOTAL:  # times that follow each other in the same unit
                together = [[*several] for _, several in groupby(parts, itemgetter(2))]
            for several in together:
                entry = _entry(names[meter.project], meter, several, state)
                if not entry.account.is_nothing:
                    yield entry


def _told_of(query: UsageQuery, meter: Meter) -> Meter:
    return meter if query.every_az else meter._replace(az=entries.ALL_AZS)


def _sum_of(zones: Mapping[Meter, VersionedAccount]) -> VersionedAccount:
    by_az, versions = zip(*zones.values(), strict=True)
    return VersionedAccount(rules.add_zones(by_az), max(versions))


def _entry(names: Sequence[Names], meter: Meter, parts: Sequence[Part], state: AccountState) -> UsageEntry:
    begin, end = parts[0][0].begin, parts[-1][0].end
    account = reduce(rules.add, [counted.account for _, counted, _ in parts])
    closed = Counter(bucket.granularity.value for bucket, _, _ in parts if bucket.end <= state.closed_until)
    still_open = Counter(bucket.granularity.value for bucket, _, _ in parts if bucket.end > state.closed_until)
    version = max(counted.version for _, counted, _ in parts)
    times = (begin, end, account, closed, still_open, version)
    return UsageEntry(entries.name_at(names, end), meter, *times, unit=parts[0][2])


def _reasons(entry: UsageEntry, rows: Sequence[Correction]) -> Sequence[tuple[int, str]]:
    """Returns when and why what an entry comes from was corrected: of several AZs, only once."""
    if entry.version == 1:
        return ()
    told = {*entry.closed, *entry.open}
    of_entry = [row for row in rows if row.granularity in told and entry.begin <= row.begins < entry.end]
    return [*dict.fromkeys((row.corrected_at, row.reason) for row in of_entry)]
