"""Quota for a time: what may be asked for, what a later change makes of it, and how far it goes back.

Pure functions of numbers. Times are seconds since the epoch.
"""

import enum

from msgspec import Struct, structs

from limes.kernel.calendar import render_minute
from limes.kernel.units import Unit
from limes.quota.hierarchy import Bounding, Judge, Refusal, conflict, invalid_value, lowest

LONGEST = 10 * 365 * 86400.0
"""How far ahead an end may be. What is farther is most likely no number of seconds."""


class TemporaryState(enum.StrEnum):
    """What a temporary quota waits for."""

    PLANNED = "planned"
    """For its beginning: the quota was not raised yet."""
    ACTIVE = "active"
    """For its end."""
    OVER = "over"
    """Its end has passed, and not all of it could be given back."""


class Term(Struct, frozen=True):
    """For how long a quota is wanted, as the request says."""

    until: float | None = None
    starts_at: float | None = None
    """None: at once."""
    keep_until: bool | None = None
    """Whether an existing temporary quota keeps its end. None: if the quota stays as it is."""


ALWAYS = Term()


class TemporaryQuota(Struct, frozen=True):
    """The temporary quota of a project or domain: there is one for each resource at most. Amounts are in its unit."""

    state: TemporaryState
    quota: int
    before: int | None
    """What the quota goes back to. None while it is planned: it is taken when the raise begins."""
    starts_at: float
    until: float
    due_at: float
    """When to look at it next."""
    problem: str = ""
    """Why it could not begin, or not be given back, so far."""


class RequestedQuota(Struct, frozen=True):
    """A quota that a request sets, and the present one."""

    quota: int
    term: Term
    present: int
    temporary: TemporaryQuota | None
    only_raises: bool = False
    """Whether a quota that is higher already stays as it is."""


class Plan(Struct, frozen=True):
    """What becomes of the temporary quota of a resource."""

    temporary: TemporaryQuota | None
    """The one from now on."""
    waits: bool = False
    """Whether the quota stays as it is for now."""
    raised_from: int | None = None
    """From which quota the caller must be allowed to raise it; None where the change itself says it all."""
    note: str = ""
    """For the history."""
    warning: str = ""


def check_term(term: Term, now: float) -> Refusal | None:
    """Returns what is wrong with the times of a request."""
    if term.until is None and term.starts_at is None:
        return None
    if term.until is None:
        return invalid_value("from goes with until: a quota that is to stay is set when it is due")
    if term.keep_until is not None:
        return invalid_value("until and keep_until exclude each other")
    if term.until <= now:
        return invalid_value("until is in the past")
    if term.until > now + LONGEST:
        return invalid_value("until is more than ten years ahead; it is a UNIX timestamp in seconds")
    if term.starts_at is not None and term.starts_at <= now:
        return invalid_value("from is in the past; without from, the quota is raised at once")
    if term.starts_at is not None and term.starts_at >= term.until:
        return invalid_value("until has to be after from")
    return None


# -- what a request asks for -------------------------------------------------------------------------------------------


def plan(wish: RequestedQuota, unit: Unit, now: float) -> Plan | Refusal | None:
    """Returns what a change of quota makes of the temporary one, or why it cannot be; None if that has no part in it.
    The term was checked before."""
    if wish.term.until is not None:
        return _plan_term(wish, unit, wish.term.until, now)
    there_is = wish.temporary
    if there_is is None:
        return None
    if there_is.before is None:
        return _change_planned(wish, there_is, unit)
    if wish.only_raises:
        return _raise_what_stays(wish, there_is, there_is.before, unit)
    return _change_active(wish, there_is, there_is.before, unit)


def _plan_term(wish: RequestedQuota, unit: Unit, until: float, now: float) -> Plan | Refusal:
    before = wish.present if wish.temporary is None or wish.temporary.before is None else wish.temporary.before
    if wish.quota <= before:
        text = f"a quota for a time has to be more than the one after it, which is {unit.render(before)}"
        return invalid_value(text, minimum=before + 1, unit=unit)
    is_active = wish.temporary is not None and wish.temporary.before is not None
    if wish.temporary is not None and is_active and wish.term.starts_at is not None:
        text = f"there is a temporary quota until {render_minute(wish.temporary.until)}"
        return conflict(f"{text}: another one can be planned after its end")
    if wish.temporary is not None and wish.only_raises and wish.quota < wish.present:
        text = f"there is a temporary quota of {unit.render(wish.present)} until {render_minute(wish.temporary.until)}"
        return conflict(f"{text}: ask for as much, or wait for its end")
    if wish.term.starts_at is not None:
        start = wish.term.starts_at
        planned = TemporaryQuota(TemporaryState.PLANNED, wish.quota, None, start, until, start)
        text = f"{unit.render(wish.quota)} planned from {render_minute(start)} until {render_minute(until)}"
        return Plan(planned, waits=True, note=text)
    if wish.temporary is not None and is_active and (wish.quota, until) == (wish.present, wish.temporary.until):
        return Plan(wish.temporary)
    active = TemporaryQuota(TemporaryState.ACTIVE, wish.quota, before, now, until, until)
    raised_from = before if is_active else None
    return Plan(active, raised_from=raised_from, note=f"until {render_minute(until)}, then {unit.render(before)}")


def _change_planned(wish: RequestedQuota, planned: TemporaryQuota, unit: Unit) -> Plan | None:
    keeps = wish.quota == wish.present if wish.term.keep_until is None else wish.term.keep_until
    if keeps or wish.only_raises:
        return None
    begin = render_minute(planned.starts_at)
    text = f"the raise to {unit.render(planned.quota)} that was planned for {begin} is cancelled"
    return Plan(None, note=text, warning=text)


def _raise_what_stays(wish: RequestedQuota, there_is: TemporaryQuota, before: int, unit: Unit) -> Plan | None:
    """A quota is granted permanently while there is more for a time."""
    if wish.quota <= before:
        return None
    if wish.quota >= wish.present:
        return _drop(wish, there_is, before, unit)
    text = f"{unit.render(wish.quota)} instead of {unit.render(before)} after {render_minute(there_is.until)}"
    return Plan(structs.replace(there_is, before=wish.quota), raised_from=before, note=text)


def _change_active(wish: RequestedQuota, there_is: TemporaryQuota, before: int, unit: Unit) -> Plan | Refusal | None:
    if wish.quota == wish.present and wish.term.keep_until is not False:
        return None
    if not wish.term.keep_until:
        return _drop(wish, there_is, before, unit)
    if wish.quota > before:
        text = f"until {render_minute(there_is.until)}, then {unit.render(before)}"
        return Plan(structs.replace(there_is, quota=wish.quota), note=text)
    text = f"with keep_until it has to be more than the quota after that, which is {unit.render(before)}"
    return invalid_value(text, minimum=before + 1, unit=unit)


def _drop(wish: RequestedQuota, there_is: TemporaryQuota, before: int, unit: Unit) -> Plan:
    if wish.quota <= before:
        return Plan(None, note=f"no end on {render_minute(there_is.until)} any more")
    text = f"it stays at {unit.render(wish.quota)}, and no longer goes back to {unit.render(before)}"
    warning = f"{text} (on {render_minute(there_is.until)}); to keep that end, send keep_until: true"
    return Plan(None, raised_from=before, note=text, warning=warning)


# -- what is due -------------------------------------------------------------------------------------------------------


class Step(Struct, frozen=True):
    """What to do about a temporary quota that is due."""

    quota: int
    """What the quota is to be from now on. It may be what it is."""
    temporary: TemporaryQuota | None
    """The one from now on."""
    note: str = ""
    """Why the quota changes, or why nothing becomes of it, for the history."""


def take_step(due: TemporaryQuota, present: int, judge: Judge, unit: Unit, now: float, retry: float) -> Step:
    """Returns what to do. `judge` says which quotas are acceptable now, for any caller; what cannot be done is tried
    again after `retry` seconds."""
    if due.before is None:
        return _begin(due, present, judge, unit, now, retry)
    return _give_back(due, due.before, present, judge, unit, now, retry)


def _begin(due: TemporaryQuota, present: int, judge: Judge, unit: Unit, now: float, retry: float) -> Step:
    if due.until <= now:
        reason = due.problem or "no collector was running to start it"
        return Step(present, None, f"{unit.render(due.quota)} until {render_minute(due.until)} never began: {reason}")
    if present >= due.quota:
        return Step(
            present, None, f"{unit.render(due.quota)} until {render_minute(due.until)} not needed: there is as much"
        )
    refusal = judge(due.quota)
    if refusal is not None:
        return Step(present, structs.replace(due, due_at=min(now + retry, due.until), problem=refusal.message))
    active = structs.replace(due, state=TemporaryState.ACTIVE, before=present, due_at=due.until, problem="")
    return Step(due.quota, active, f"planned until {render_minute(due.until)}, then {unit.render(present)}")


def _is_constrained(due: TemporaryQuota, present: int, judge: Judge) -> bool:
    """Returns whether a constraint has moved the quota away from what it was set to. Otherwise it was set by a process
    that does not know temporary quota, of an older release: all others change both together."""
    refusal = judge(present + 1 if present < due.quota else present - 1)
    return refusal is not None and refusal.rule is Bounding.CONSTRAINT


def _give_back(
    due: TemporaryQuota, before: int, present: int, judge: Judge, unit: Unit, now: float, retry: float
) -> Step:
    if present <= before:
        return Step(present, None)
    if due.state is TemporaryState.ACTIVE and present != due.quota and not _is_constrained(due, present, judge):
        text = f"it was set to {unit.render(present)} since, so it does not go back to {unit.render(before)}"
        return Step(present, None, text)
    quota = lowest(before, present, judge)
    text = f"end of the temporary quota on {render_minute(due.until)}"
    if quota == before:
        return Step(quota, None, text)
    is_new = due.state is not TemporaryState.OVER or quota < present
    refusal = judge(quota - 1)
    problem = refusal.message if refusal else ""
    over = structs.replace(due, state=TemporaryState.OVER, due_at=now + retry, problem=problem)
    return Step(quota, over, f"{text}, but {unit.render(quota - before)} cannot be given back yet" if is_new else "")
