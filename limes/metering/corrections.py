"""Corrects closed days and months for which something was recorded after they were closed.

What was said before is kept, with the reason. What is older than single hours are kept stays as it is. To be called in
the transaction that has locked the account.
"""

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from msgspec import structs

from limes.app.context import Limes
from limes.catalog.catalog import ANY_AZ
from limes.db.transactions import atomic, snapshot
from limes.kernel import calendar
from limes.kernel.calendar import DAY, Bucket, Granularity, buckets, day_of, month_of, next_month
from limes.metering import accounts, rules
from limes.metering import source_queries as sources
from limes.metering.accounts import AccountState, CheckedCorrections, Correction
from limes.metering.source_queries import Meter, StoredAccount
from limes.metering.sources import MeteringWindow, Sources, load_sources, lock_account, window_at

log = logging.getLogger(__name__)

REPAIRED = "commitments are counted as in the present release"
_PROJECTS = 20
"""Whose accounts are computed together."""
Days = Mapping[Meter, Sequence[StoredAccount]]
"""Closed days that follow each other."""


def read_closed(limes: Limes, window: MeteringWindow, late: Mapping[str, int]) -> Days:
    """Returns the closed days that may be wrong, as they are reported now: of each project (UUID) at least those from
    a time on."""
    found: dict[Meter, list[StoredAccount]] = {}
    for some in _in_parts(late):
        begin = _first_day(limes, window, min(some.values()))
        found |= read_days(limes, window, sorted(some), begin, window.closed_until)
    return found


def correct_days(limes: Limes, window: MeteringWindow, late: Mapping[str, int], before: Days, reason: str) -> None:
    """Computes these days again, and their months with them. `before` is what `read_closed` has returned."""
    for some in _in_parts(late):
        told = {meter: rows for meter, rows in before.items() if meter.project in some}
        begin = _first_day(limes, window, min(some.values()))
        anew = read_days(limes, window, sorted(some), begin, window.closed_until, told, anew=True)
        _replace(limes, window, told, anew, reason)


# -- what earlier releases have closed ---------------------------------------------------------------------------------


def repair(limes: Limes, now: int) -> None:
    """Corrects days and months that earlier releases have closed or corrected, perhaps beside this one: they let no
    commitment cover usage in several AZs, and forgot commitments of vanished projects when they closed a month."""
    state, known = _read_checked(limes)
    begin = day_of(state.begun_at) if state.checked_until is None else state.checked_until
    if known.begins is not None:
        begin = max(min(begin, known.begins), day_of(state.begun_at))
    if (months := limes.settings.metering.keep_months) is not None:
        begin = max(begin, calendar.months_kept_since(now, months))
    marker: str | None = "" if begin < state.closed_until else None
    while marker is not None:
        marker = _repair_some(limes, marker, begin, now)
    if state.checked_until != state.closed_until or known.begins is not None:
        _note_repair(limes, state.closed_until, known)


@snapshot
def _read_checked(limes: Limes) -> tuple[AccountState, CheckedCorrections]:
    state = accounts.state(limes.engine)
    assert state is not None, "metering has started"
    return state, accounts.checked_corrections(limes.engine)


@atomic
def _repair_some(limes: Limes, marker: str, begin: int, now: int) -> str | None:
    """Does so for some projects, from `begin` on, which is the beginning of a day. Returns the last of them; None if
    there are none."""
    state, days_kept_since = lock_account(limes), day_of(now) - limes.settings.metering.keep_days * DAY
    projects = sources.project_page(limes.engine, month_of(begin), state.closed_until, marker, _PROJECTS)
    window, end = window_at(limes, state, now), state.closed_until
    with_days = begin if begin >= days_kept_since else max(begin, next_month(month_of(days_kept_since - 1)))
    noted: list[Correction] = []
    if begin < min(with_days, end):
        for month in buckets(month_of(begin), min(with_days, next_month(month_of(end - 1))), Granularity.MONTH):
            noted += _complete_month(limes, window, projects, month)
    if with_days < end:
        noted += _repair_days(limes, window, projects, with_days)
    accounts.add_corrections(limes.engine, noted)
    return projects[-1] if projects else None


@atomic
def _note_repair(limes: Limes, until: int, known: CheckedCorrections) -> None:
    accounts.set_state(limes.engine, lock_account(limes).checked(until))
    # what was corrected meanwhile is looked at in the next run
    if accounts.checked_corrections(limes.engine).until == known.until:
        accounts.check_corrections(limes.engine, known.last)


def _repair_days(limes: Limes, window: MeteringWindow, projects: Sequence[str], begin: int) -> list[Correction]:
    """Repairs days, and months from their days. Returns what these said before."""
    end, kept_since, reason = window.closed_until, _first_day(limes, window, begin), REPAIRED
    known = load_sources(limes.engine, projects, begin, end, Granularity.DAY, window)
    anew = read_days(limes, window, projects, kept_since, end, known.meters(), anew=True)
    corrected = accounts.corrections(limes.engine, projects, begin, end)
    done = {(row.meter[:3], row.begins) for row in corrected if row.reason == reason}
    before: dict[Meter, list[StoredAccount]] = {}
    after: dict[Meter, list[StoredAccount]] = {}
    for zones in known.resources():
        if known.is_pooled(zones, begin, end):
            before |= _told(structs.replace(known, pools=False), zones, begin, end)
            later = {meter: anew.get(meter, []) for meter in zones}
            older = _told(known, zones, begin, min(kept_since, end))
            _cover_stored_days(known, older, before, done)
            after |= {meter: [*older[meter], *later[meter]] for meter in zones}
    _replace(limes, window, before, after, reason)
    noted: list[Correction] = []
    for month in buckets(month_of(begin), next_month(month_of(end - 1)), Granularity.MONTH):
        noted += _correct_month(limes, window, set(projects), month.begin, reason)
    return noted


def _complete_month(limes: Limes, window: MeteringWindow, projects: Sequence[str], month: Bucket) -> list[Correction]:
    """Adds to a closed month whose days are not kept any more what was committed after the last day that it counts:
    nothing else has happened after that. Returns what it said before."""
    engine, before = limes.engine, calendar.previous_month(month.begin)
    months = sources.months(engine, projects, before, month.end)
    committed = sources.committed(engine, projects, month.begin, month.end)
    # usage of that time is not known any more: what commitments of all AZs would cover stays as it was
    known = Sources(window, committed=committed, months=months, pools=False)
    noted, written = [], []
    for zones in known.resources():
        for meter, account in known.month_until(zones, month.begin, month.end).items():
            stored = [row for row in months.get(meter, ()) if row.begin == month.begin]
            (old,) = stored or [nothing(month.begin, month.end)]
            if not says_the_same(old.account, account):
                written.append((meter, StoredAccount(month.begin, account, old.version + 1, month.end)))
                noted.append(Correction.of(window.now, REPAIRED, "month", meter, old))
    accounts.write_months(engine, written)
    return noted


def _replace(limes: Limes, window: MeteringWindow, before: Days, after: Days, reason: str) -> None:
    compared: list[tuple[Meter, StoredAccount, StoredAccount]] = []
    to_write: set[tuple[Any, int]] = set()
    for meter, rows in after.items():
        olds = {row.begin: row for row in before.get(meter, ())}
        begins_otherwise = False
        for row in rows:
            old = olds.get(row.begin) or nothing(row.begin, row.counted_until)
            differs = old.account != row.account
            compared.append((meter, old, row._replace(version=old.version + differs)))
            # if this day had no row, it would begin with what the day before ends with now
            if differs or begins_otherwise:
                to_write.add((meter[:3], row.begin))
            begins_otherwise = differs and old.account.last != row.account.last
    # all AZs of a resource: what counts in one may depend on others
    written = [(meter, row) for meter, _, row in compared if (meter[:3], row.begin) in to_write]
    wrong = [(meter, old) for meter, old, row in compared if row.version > old.version]
    noted = [Correction.of(window.now, reason, "day", meter, old) for meter, old in wrong]
    if not noted:
        return
    accounts.write_days(limes.engine, written)
    days_of = Counter(correction.project_uuid for correction in noted)
    for month in sorted({month_of(row.begin) for _, row in written}):
        of_month = {meter.project for meter, row in written if month_of(row.begin) == month}
        noted += _correct_month(limes, window, of_month, month, reason)
    accounts.add_corrections(limes.engine, noted)
    for project, days in sorted(days_of.items()):
        log.warning("project %s: %d closed days were corrected: %s", project, days, reason)


def _correct_month(
    limes: Limes, window: MeteringWindow, projects: Collection[str], month: int, reason: str
) -> list[Correction]:
    """Adds up a month of some projects again. Returns what it said before, if it was closed."""
    noted, written = [], []
    end = min(next_month(month), window.closed_until)
    is_closed = end == next_month(month)
    stored = sources.months(limes.engine, sorted(projects), month, month + 1)
    for meter, account in month_so_far(limes, window, sorted(projects), month, end).items():
        (old,) = stored.get(meter) or [nothing(month, end)]
        differs = old.account != account
        if differs or (meter not in stored and not is_closed):
            is_corrected = differs and is_closed
            if meter not in stored and is_closed and account.is_nothing:
                continue
            written.append((meter, StoredAccount(month, account, old.version + is_corrected, end)))
            if is_corrected:
                noted.append(Correction.of(window.now, reason, "month", meter, old))
    accounts.write_months(limes.engine, written)
    return noted


def month_so_far(
    limes: Limes, window: MeteringWindow, projects: Sequence[str], month: int, end: int
) -> dict[Meter, rules.Account]:
    """Returns the account of the closed days of a month, added up from the days."""
    days = read_days(limes, window, projects, month, end)
    return {meter: reduce(rules.add, [row.account for row in rows]) for meter, rows in days.items()}


def read_days(
    limes: Limes,
    window: MeteringWindow,
    projects: Sequence[str],
    begin: int,
    end: int,
    also: Iterable[Meter] = (),
    *,
    anew: bool = False,
) -> dict[Meter, list[StoredAccount]]:
    """Returns what closed days say, or with `anew`, what they should say. `also` is what to report even if there is
    nothing to say about it any more."""
    found: dict[Meter, list[StoredAccount]] = {}
    if begin < end:
        known = load_sources(limes.engine, projects, begin, end, Granularity.DAY, window, anew=anew)
        for zones in known.resources(also):
            found |= _told(known, zones, begin, end)
    return found


def _first_day(limes: Limes, window: MeteringWindow, at: int) -> int:
    """Returns the first day that can still be computed again."""
    kept_since = day_of(window.now) - limes.settings.metering.keep_hours * DAY
    return max(day_of(at), day_of(window.begun_at), kept_since)


def _told(known: Sources, zones: Sequence[Meter], begin: int, end: int) -> dict[Meter, list[StoredAccount]]:
    found: dict[Meter, list[StoredAccount]] = {meter: [] for meter in zones}
    times = list(buckets(begin, end, Granularity.DAY))
    for day, counted in zip(times, known.accounts(zones, times), strict=True):
        for meter, (account, version) in counted.items():
            found[meter].append(StoredAccount(day.begin, account, version, day.end))
    return found


def _cover_stored_days(
    known: Sources, days: Mapping[Meter, list[StoredAccount]], before: Days, done: Collection[Any]
) -> None:
    """Lets commitments in the AZ `any` cover usage in all AZs, in days for which only the sums are kept: as much of it
    as they can, so that nobody pays too much. `days` are those of one resource; `before`, what earlier releases have
    reported for them; `done`, what was corrected by a run that did not finish."""
    for index, day in enumerate([*next(iter(days.values()))]):
        is_stored = any(row.begin == day.begin for meter in days for row in known.days.get(meter, ()))
        is_done = any((meter[:3], day.begin) in done for meter in days)
        if is_done or not is_stored or not known.is_pooled(days, day.begin, day.counted_until):
            continue
        told = {meter: before[meter][index].account for meter in days}
        (pooled,) = [account for meter, account in told.items() if meter.az == ANY_AZ]
        elsewhere = sum(account.beyond for meter, account in told.items() if meter.az != ANY_AZ)
        for meter, rows in days.items():
            beyond = max(elsewhere + pooled.used - pooled.committed, 0) if meter.az == ANY_AZ else 0
            rows[index] = rows[index]._replace(account=told[meter]._replace(beyond=beyond))


def _in_parts(late: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Yields some projects at a time: those whose accounts are computed together."""
    projects = sorted(late)
    for start in range(0, len(projects), _PROJECTS):
        yield {project: late[project] for project in projects[start : start + _PROJECTS]}


def says_the_same(one: rules.Account, other: rules.Account) -> bool:
    """Returns whether two accounts say the same to those who read them."""
    return one == other or (one.is_nothing and other.is_nothing)


def nothing(begin: int, end: int) -> StoredAccount:
    return StoredAccount(begin, rules.integrate(begin, end, 0), 1, end)
