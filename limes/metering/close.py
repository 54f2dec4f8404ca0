"""Keeps the account of usage and commitments: closes days, corrects closed ones, and forgets what is old.

Invariant: the row of `metering_state` is locked while days are closed or corrected, and says which projects are done.
So a day of a project is counted exactly once in its month, whatever happens to the collector in between, and however
many do this at once.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import orjson
from msgspec import Struct, field

from limes.app.context import Limes
from limes.commitments import events as commitment_events
from limes.commitments.events import NumberedEvent
from limes.db.transactions import atomic
from limes.kernel.calendar import DAY, Bucket, Granularity, day_of, month_of, next_month, render_time
from limes.kernel.errors import Unavailable
from limes.metering import accounts, corrections, reopen, rules
from limes.metering import queries as metering
from limes.metering import source_queries as sources
from limes.metering.accounts import AccountState, Correction
from limes.metering.source_queries import CommittedRow, Meter, StoredAccount
from limes.metering.sources import Sources, VersionedAccount, load_gaps, load_sources, lock_account, window_at

log = logging.getLogger(__name__)

_PROJECTS = 200
"""Of one transaction."""
_PROJECTS_TO_BEGIN = 20
"""All of their figures are read and written."""
_EVENTS = 1000
_PROJECTS_TO_CORRECT = 100
_IN_FLIGHT = 300
"""Seconds within which a scrape that has read the clock is committed. No day is closed earlier after its end."""


def close_days(limes: Limes) -> None:
    """The job. Several may run it at once. Raises `Unavailable` if the clock is wrong."""
    now = int(limes.now())
    state = limes.engine.snapshot(partial(accounts.state, limes.engine)) or _begin(limes, now)
    if now < state.begun_at:
        # a machine that starts with a clock of years ago must not take all that was ever closed for yet to come
        start, says = render_time(state.begun_at), render_time(now)
        raise Unavailable(f"the account of usage begins on {start}, but the clock says {says}: nothing is done")
    reopen.reopen_if_ahead(limes, state, now)
    while _close_some(limes, now, only_begun=True):
        pass
    while _follow_commitments(limes, now):
        pass
    _note_names(limes, now)
    corrections.repair(limes, now)
    while _correct_late(limes, now):
        pass
    while _close_some(limes, now):
        pass
    _forget(limes, now)


def _begin(limes: Limes, now: int) -> AccountState:
    engine, last = limes.engine, -1
    while some := engine.snapshot(partial(accounts.projects_after, engine, last, _PROJECTS_TO_BEGIN)):
        engine.atomic(partial(metering.begin_projects, engine, some, now))
        last = max(some)
    engine.atomic(partial(accounts.begin, engine, now, day_of(now)))
    log.info("the account of usage over time begins")
    return engine.atomic(partial(lock_account, limes))


@atomic
def _note_names(limes: Limes, now: int) -> None:
    lock_account(limes)
    metering.note_names(limes.engine, now)
    resources = {ref: limes.catalog.find(ref) for ref in limes.catalog.refs()}
    # closed months keep the unit that they had
    metering.note_units(
        limes.engine, {ref: resource.unit.value for ref, resource in resources.items() if resource}, now
    )


@atomic
def _follow_commitments(limes: Limes, now: int) -> bool:
    """Adds what has happened to commitments. Returns whether there may be more."""
    engine, state = limes.engine, lock_account(limes)
    # while a day is being closed, it is closed for some projects only: the next run comes soon
    events = [] if state.last_project else commitment_events.after(engine, state.event_number, _EVENTS)
    if not events:
        return False
    known = sources.committed_times(engine, {str(orjson.loads(event.document)["uuid"]) for event in events})
    written = _apply_events(known, events)
    late = {project: at for project, at in _changed_since(known, written).items() if at < state.closed_until}
    window = window_at(limes, state, now)
    before = corrections.read_closed(limes, window, late)
    sources.write_committed_times(engine, [*written.values()])
    corrections.correct_days(limes, window, late, before, "a commitment was changed for this time afterwards")
    accounts.set_state(engine, state._replace(event_number=events[-1].number))
    return len(events) == _EVENTS


def _apply_events(
    known: Mapping[str, Sequence[CommittedRow]], events: Sequence[NumberedEvent]
) -> dict[tuple[str, int], CommittedRow]:
    """Returns the times to write, by commitment and beginning, after these events. `known` are those from before."""
    times = {uuid: list(rows) for uuid, rows in known.items()}
    written: dict[tuple[str, int], CommittedRow] = {}
    for event in events:
        document = orjson.loads(event.document)
        rows = times.setdefault(document["uuid"], [])
        for row in _after_event(rows[-1] if rows else None, document, event):
            if rows and rows[-1].begins == row.begins:
                rows[-1] = row
            else:
                rows.append(row)
            written[row.commitment_uuid, row.begins] = row
    return written


def _after_event(last: CommittedRow | None, document: Mapping[str, Any], event: NumberedEvent) -> list[CommittedRow]:
    """Returns what changes of the commitment's last time, and what follows it."""
    at = int(event.at)
    present = None
    if document["status"] == "confirmed" and event.event != "deleted":
        # made of others, it follows them; confirmed later, it counts from then on
        begins = max(document["created_at"], document["confirmed_at"]) if last is None else at
        place = (document["project_id"], document["service_type"], document["resource_name"])
        where = (*place, document["availability_zone"], document["amount"])
        present = CommittedRow(document["uuid"], begins, max(begins, document["expires_at"]), *where)
    if last is None:
        return [] if present is None else [present]
    if present is not None and last[3:] == present[3:]:
        return [last._replace(ends=present.ends)] if present.ends != last.ends else []
    ended_at = document.get("superseded_at", document["expires_at"] if event.event == "expired" else at)
    ended = last._replace(ends=max(last.begins, min(last.ends, ended_at)))
    if present is None:
        return [ended] if ended != last else []
    return [ended, present] if present.begins > last.begins else [present]


def _changed_since(
    before: Mapping[str, Sequence[CommittedRow]], after: Mapping[tuple[str, int], CommittedRow]
) -> dict[str, int]:
    """Returns since when the accounts of projects change, by UUID."""
    known = {(row.commitment_uuid, row.begins): row for rows in before.values() for row in rows}
    changed: dict[str, int] = {}
    for key, row in after.items():
        old = known.get(key)
        at = row.begins if old is None or old[3:] != row[3:] else min(old.ends, row.ends)
        for project in {row.project_uuid, *([old.project_uuid] if old else ())}:
            changed[project] = min(at, changed.get(project, at))
    return changed


@atomic
def _close_some(limes: Limes, now: int, *, only_begun: bool = False) -> bool:
    """Closes the next day for some more projects; with `only_begun`, only a day that was started. Returns whether
    there was something to do."""
    engine, state = limes.engine, lock_account(limes)
    if only_begun and not state.last_project:
        return False
    day = Bucket(Granularity.DAY, state.closed_until, state.closed_until + DAY)
    if now < day.end + max(limes.settings.metering.closes_after, _IN_FLIGHT):
        return False
    # a month is written of all that were there in it
    begin = month_of(day.begin) if _ends_month(day) else day.begin
    projects = sources.project_page(engine, begin, day.end, state.last_project, _PROJECTS)
    if projects:
        _close(limes, projects, day, state, now)
    if len(projects) == _PROJECTS:
        accounts.set_state(engine, state.advanced(projects[-1]))
    else:
        accounts.set_state(engine, state.closed(day.end, now))
        accounts.note_closing(engine, day.begin, now)
    return True


def _close(limes: Limes, projects: Sequence[str], day: Bucket, state: AccountState, now: int) -> None:
    """Writes what has happened on this day. With the last day of a month, the month is written of all."""
    engine, window = limes.engine, window_at(limes, state, now)
    accounts.take_pending(engine, projects, day.begin, day.end)
    was_closed = accounts.was_closed(engine, day.begin)  # by a clock that was ahead
    if not _ends_month(day) and not was_closed:
        eventful = {meter.project for meter in sources.steps(engine, projects, day.begin, day.end)}
        eventful |= {project for project, _ in load_gaps(engine, projects, day.begin, day.end, window)}
        projects = [project for project in projects if project in eventful]
        if not projects:
            return
    known = load_sources(engine, projects, day.begin, day.end, Granularity.DAY, window, anew=True)
    told = sources.days(engine, projects, day.begin, day.end) if was_closed else None
    months_told = accounts.months_to_write(engine, projects, month_of(day.begin))
    closed = _ClosedDay(known, day, told, months_told)
    for zones in known.resources(told or ()):
        closed.add(zones)
    accounts.write_days(engine, closed.days)
    accounts.write_months(engine, closed.months)
    accounts.add_corrections(engine, [Correction.of(now, reopen.REOPENED, *each) for each in closed.corrected])


@atomic
def _correct_late(limes: Limes, now: int) -> bool:
    """Corrects closed days of some projects for which something was recorded after these days were counted. Returns
    whether there was something to do."""
    engine, state = limes.engine, lock_account(limes)
    # of a day that is closed for some projects only, it is not clear whether it is closed
    projects = [] if state.last_project else accounts.late_projects(engine, state.closed_until, _PROJECTS_TO_CORRECT)
    if not projects:
        return False
    late, window = accounts.take_pending(engine, projects, 0, state.closed_until), window_at(limes, state, now)
    before = corrections.read_closed(limes, window, late)
    corrections.correct_days(limes, window, late, before, "usage of this time was recorded afterwards")
    return True


def _ends_month(day: Bucket) -> bool:
    return day.end == next_month(month_of(day.begin))


class _ClosedDay(Struct, frozen=True):
    """What is known of the day, and what to write. With `told`, the day was closed before, by a clock that was ahead:
    that is what was said of it."""

    known: Sources
    day: Bucket
    told: Mapping[Meter, Sequence[StoredAccount]] | None
    months_told: Mapping[Meter, int]
    """The versions of months that are open again, by meter."""
    days: list[tuple[Meter, StoredAccount]] = field(default_factory=list)
    months: list[tuple[Meter, StoredAccount]] = field(default_factory=list)
    corrected: list[tuple[str, Meter, StoredAccount]] = field(default_factory=list)
    """Days and months that say something else now."""

    def add(self, zones: Sequence[Meter]) -> None:
        known, day, month = self.known, self.day, month_of(self.day.begin)
        (counted,) = known.accounts(zones, [day])
        to_tell = self._to_tell(zones, counted)
        self.days.extend((meter, self._day(meter, counted[meter].account)) for meter in zones if meter in to_tell)
        if to_tell or _ends_month(day):
            for meter, account in known.month_until(zones, month, day.end).items():
                if meter in to_tell or not account.is_nothing:
                    self.months.append((meter, self._month(meter, account)))

    def _to_tell(self, zones: Sequence[Meter], counted: Mapping[Meter, VersionedAccount]) -> Collection[Meter]:
        """Returns where the day has to be reported: elsewhere, usage was what it was before. Where AZs are covered
        together, they are reported together, as what counts in one depends on the others."""
        known, day = self.known, self.day
        if self.told is not None:
            return zones
        eventful = {meter for meter in zones if counted[meter].account.unknown > 0}
        for meter in zones:
            if any(day.begin <= step.at < day.end for step in known.steps.get(meter, ())):
                eventful.add(meter)
        return zones if eventful and known.is_pooled(zones, month_of(day.begin), day.end) else eventful

    def _day(self, meter: Meter, account: rules.Account) -> StoredAccount:
        row = StoredAccount(self.day.begin, account, 1, self.day.end)
        if self.told is None:
            return row
        (old,) = self.told.get(meter) or [corrections.nothing(self.day.begin, self.day.end)]
        if corrections.says_the_same(old.account, account):
            return row._replace(version=old.version)
        self.corrected.append(("day", meter, old))
        return row._replace(version=old.version + 1)

    def _month(self, meter: Meter, account: rules.Account) -> StoredAccount:
        month = month_of(self.day.begin)
        row = StoredAccount(month, account, self.months_told.get(meter, 1), self.day.end)
        if self.told is not None and _ends_month(self.day) and meter not in self.months_told and not account.is_nothing:
            self.corrected.append(("month", meter, corrections.nothing(month, self.day.end)))
            return row._replace(version=2)
        return row


@atomic
def _forget(limes: Limes, now: int) -> None:
    state, keep = lock_account(limes), limes.settings.metering
    days_before = day_of(now) - keep.keep_days * DAY
    months_before = None if keep.keep_months is None else month_of(now) - keep.keep_months * 31 * DAY
    hours_before = min(state.closed_until, day_of(now) - keep.keep_hours * DAY)
    accounts.forget(limes.engine, hours_before, min(days_before, month_of(hours_before)), months_before)
