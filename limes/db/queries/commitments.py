"""Commitments as rows. To change commitments to a resource, lock its row (`capacity.lock_resources`)."""

import contextlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any

import peewee
from peewee import Select, Value, fn

from limes.core.commitments.commitment import LIVE, Commitment, Status
from limes.db.compiled import any_of, compiled
from limes.db.engine import Engine, Query, Row
from limes.db.models import Commitment as Stored
from limes.db.models import Project, Resource, Service
from limes.errors import Conflict, NotFound

_NAMES = tuple(field.name for field in fields(Commitment))
COLUMNS = tuple(Stored._meta.columns[name] for name in _NAMES)
_STATUS, _AUTO_RENEWS = _NAMES.index("status"), _NAMES.index("auto_renews")
_SELECT = Stored.select(*COLUMNS).order_by(Stored.id)
IS_LIVE = Stored.status.in_(sorted(status.value for status in LIVE))
"""For the commitments that are neither expired nor superseded."""

_CAN_CHANGE = (
    *(Stored.project, Stored.duration, Stored.status, Stored.confirmed_at, Stored.expires_at, Stored.superseded_at),
    *(Stored.transfer_status, Stored.transfer_token, Stored.auto_renews, Stored.renewal_error),
)


def _from_row(row: Row) -> Commitment:
    values: list[Any] = list(row)
    values[_STATUS] = Status(values[_STATUS])
    values[_AUTO_RENEWS] = bool(values[_AUTO_RENEWS])  # SQLite has no booleans
    return Commitment(*values)


def to_values(commitment: Commitment) -> dict[str, Any]:
    """Returns the row of a commitment, in the order of `COLUMNS`."""
    return {name: getattr(commitment, name) for name in _NAMES} | {"status": commitment.status.value}


def _all(engine: Engine, query: Query, **values: Any) -> list[Commitment]:
    return [_from_row(row) for row in engine.tuples(query, **values)]


_INSERT = compiled(
    lambda p: Stored.insert({column: getattr(p, column.column_name) for column in COLUMNS[1:]}).returning(Stored.id)
)
_UPDATE = compiled(
    lambda p: Stored.update({column: getattr(p, column.column_name) for column in _CAN_CHANGE}).where(Stored.id == p.id)
)


def insert(engine: Engine, commitment: Commitment) -> int:
    """Stores a new one and returns its number. Raises `NotFound` if its project is being deleted at this moment."""
    with _project_may_vanish():
        (id_,) = engine.column(_INSERT, **to_values(commitment))
    return int(id_)


def update(engine: Engine, commitment: Commitment) -> None:
    """Stores what can change of a commitment. Raises `NotFound` if its project is being deleted at this moment."""
    with _project_may_vanish():
        engine.write(_UPDATE, **to_values(commitment))


@contextlib.contextmanager
def _project_may_vanish() -> Iterator[None]:
    """A discovery may have deleted the project meanwhile. The transaction is lost, so there is nothing to clean up."""
    try:
        yield
    except peewee.IntegrityError as error:
        raise NotFound("no such project") from error


_DELETE = compiled(lambda p: Stored.delete().where(Stored.id == p.id))


def delete(engine: Engine, ids: Iterable[int]) -> None:
    """Deletes commitments."""
    for id_ in ids:
        engine.write(_DELETE, id=id_)


_BY_ID = compiled(lambda p: _SELECT.where(Stored.id == p.id))
_BY_TOKEN = compiled(lambda p: _SELECT.where(Stored.transfer_token == p.token))
_OF_PROJECT = compiled(lambda p: _SELECT.where(Stored.project == p.project))
_LIVE_IN = compiled(lambda p: _SELECT.where(Stored.resource == p.resource, IS_LIVE))


def find(engine: Engine, id_: int) -> Commitment | None:
    """Returns the commitment of that number."""
    return next(iter(_all(engine, _BY_ID, id=id_)), None) if 0 < id_ < 2**63 else None


def find_by_token(engine: Engine, token: str) -> Commitment | None:
    """Returns the commitment that is marked for transfer with this token."""
    return next(iter(_all(engine, _BY_TOKEN, token=token)), None)


def of_project(engine: Engine, project_id: int) -> list[Commitment]:
    """Returns all commitments of a project by number, including those that have ended."""
    return _all(engine, _OF_PROJECT, project=project_id)


def live_in(engine: Engine, resource_id: int) -> list[Commitment]:
    """Returns all projects' live commitments to a resource, by number."""
    return _all(engine, _LIVE_IN, resource=resource_id)


_HELD_AT = compiled(
    lambda p: Stored.select(fn.COALESCE(fn.SUM(Stored.amount), 0)).where(
        Stored.project == p.project,
        Stored.resource == p.resource,
        IS_LIVE,
        Stored.transfer_status == "",
        Stored.expires_at > p.time,
        (Stored.status == "confirmed") | (Stored.confirm_by <= p.time),
    )
)


def amount_held_at(engine: Engine, project_id: int, resource_id: int, time: float) -> int:
    """Returns the sum of a project's commitments to a resource that hold, or are to hold, at that time. Those marked
    for transfer do not count."""
    (amount,) = engine.column(_HELD_AT, project=project_id, resource=resource_id, time=time)
    return int(amount)


def _is_unsettled(now: peewee.Value) -> Any:
    """Each of the three is found by an index."""
    is_due = (Stored.status == "planned") & (Stored.confirm_by <= now)
    return (Stored.status == "pending") | is_due | (IS_LIVE & (Stored.expires_at <= now))


_UNSETTLED = compiled(lambda p: _SELECT.where(Stored.resource == p.resource, _is_unsettled(p.now)))
_UNSETTLED_RESOURCES = compiled(
    lambda p: Stored.select(Stored.resource).distinct().where(_is_unsettled(p.now)).order_by(Stored.resource)
)
_WAITING_RESOURCES = compiled(lambda p: Stored.select(Stored.resource).distinct().where(Stored.status == "pending"))


_RENEWING = compiled(
    lambda p: _SELECT.where(Stored.resource == p.resource, Stored.status == "confirmed", _renews_before(p.before))
)
_RENEWING_RESOURCES = compiled(
    lambda p: (
        Stored.select(Stored.resource)
        .distinct()
        .where(Stored.status == "confirmed", _renews_before(p.before))
        .order_by(Stored.resource)
    )
)


def _renews_before(before: peewee.Value) -> Any:
    return Stored.auto_renews & (Stored.expires_at <= before)


def renewing(engine: Engine, resource_id: int, before: float) -> list[Commitment]:
    """Returns confirmed commitments to a resource that are to be renewed by themselves, and that end before then."""
    return _all(engine, _RENEWING, resource=resource_id, before=before)


def renewing_resources(engine: Engine, before: float) -> list[int]:
    """Returns the resources that have such commitments."""
    return engine.column(_RENEWING_RESOURCES, before=before)


def unsettled(engine: Engine, resource_id: int, now: float) -> list[Commitment]:
    """Returns commitments to a resource that time or capacity may change: due to expire, planned and due, or
    pending."""
    return _all(engine, _UNSETTLED, resource=resource_id, now=now)


def unsettled_resources(engine: Engine, now: float) -> list[int]:
    """Returns the resources with `unsettled` commitments."""
    return engine.column(_UNSETTLED_RESOURCES, now=now)


def waiting_resources(engine: Engine) -> set[int]:
    """Returns the resources with commitments that wait for capacity."""
    return set(engine.column(_WAITING_RESOURCES))


def live_services(engine: Engine) -> list[str]:
    """Returns the types of services with live commitments."""
    has_live = fn.EXISTS(Stored.select(Value(1)).where(Stored.resource == Resource.id, IS_LIVE))
    return engine.column(
        Service.select(Service.type).where(Service.id.in_(Resource.select(Resource.service).where(has_live)))
    )


def unconfirmed_of(engine: Engine, project_uuids: Sequence[str]) -> list[Commitment]:
    """Returns the commitments of these projects that are not confirmed yet."""
    if not project_uuids:
        return []
    projects = Project.select(Project.id).where(any_of(Project.uuid, project_uuids))
    return _all(engine, _SELECT.where(Stored.status.in_(["planned", "pending"]), Stored.project.in_(projects)))


_PUBLIC = compiled(
    lambda p: _SELECT.where(
        Stored.transfer_status == "public",
        Stored.status == "confirmed",
        Stored.expires_at > p.now,
        any_of(Stored.resource, p.resources),
    )
)


def public(engine: Engine, resources: Collection[int], now: float) -> list[Commitment]:
    """Returns the commitments to these resources that are offered to everybody, by number."""
    return _all(engine, _PUBLIC, resources=sorted(resources), now=now) if resources else []


def _select_renewals(p: Any) -> peewee.Query:
    """Walks back to everything that the commitment was made of, and from the renewals of that on to everything made of
    them. Other parts of what it was made of are no renewals: they begin when it does."""
    older, renewal, newer = Stored.alias(), Stored.alias(), Stored.alias()
    itself = Stored.select(Stored.id, Stored.predecessor).where(Stored.id == p.id)
    past = itself.cte("past", recursive=True, columns=("id", "predecessor_id"))
    past = past.union(
        older.select(older.id, older.predecessor)
        .join(past, on=older.id == past.c.predecessor_id)
        .where(older.status == "superseded")
    )
    renewals = (
        renewal.select(renewal.id)
        .join(past, on=renewal.predecessor == past.c.id)
        .where(renewal.confirm_by > p.starts_at)
        .cte("renewals", recursive=True, columns=("id",))
    )
    renewals = renewals.union(newer.select(newer.id).join(renewals, on=newer.predecessor == renewals.c.id))
    return (
        Stored.select(Stored.id)
        .where(
            Stored.id.in_(Select([renewals], [renewals.c.id])),
            IS_LIVE,
            Stored.project == p.project,
            Stored.confirm_by > p.starts_at,
        )
        .order_by(Stored.id)
        .limit(1)
        .with_cte(past, renewals)
    )


_RENEWALS = compiled(_select_renewals)


def require_not_renewed(engine: Engine, commitment: Commitment, consequence: str = "") -> None:
    """Raises `Conflict` if the project already has a live commitment that begins later and renews this one, or one that
    this one was made of, or that was made of such a renewal. `consequence` ends the message."""
    values = {"id": commitment.id, "project": commitment.project_id, "starts_at": commitment.starts_at}
    for renewal in engine.column(_RENEWALS, **values):
        raise Conflict(f"commitment {commitment.id} was already renewed, as commitment {renewal}{consequence}")


def _select_ended(p: Any) -> peewee.Query:
    """A superseded one stays for as long as anything that was made of it: through it, renewals are found."""
    successor = Stored.alias()
    has_successors = fn.EXISTS(successor.select(successor.id).where(successor.predecessor == Stored.id))
    return (
        Stored.select(Stored.id)
        .where(
            ((Stored.status == "expired") & (Stored.expires_at < p.time))
            | ((Stored.status == "superseded") & (Stored.superseded_at < p.time) & ~has_successors)
        )
        .order_by(Stored.id)
        .limit(p.limit)
    )


_ENDED_BEFORE = compiled(_select_ended)


def ended_before(engine: Engine, time: float, limit: int) -> list[int]:
    """Returns the lowest `limit` numbers of commitments that can go: they expired before that time, or were superseded,
    and nothing that was made of them is left."""
    return engine.column(_ENDED_BEFORE, time=time, limit=limit)
