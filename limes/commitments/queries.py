"""Commitments as rows, and idempotency keys. To change commitments, lock their resource (`capacity.lock_resources`)."""

import contextlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import peewee
from peewee import Select, Value, fn

from limes.catalog.models import Resource, Service
from limes.commitments.commitment import LIVE, Commitment, Status
from limes.commitments.models import Commitment as Stored
from limes.commitments.models import CommitmentKey
from limes.db.compiled import Compiled, any_of
from limes.db.engine import Engine
from limes.db.query import Node, column, distinct, first, made, value, writes
from limes.kernel.errors import Conflict, NotFound
from limes.projects.models import Project


def renews_itself(commitment: Any) -> Any:
    """The condition that nobody needs to act before a commitment's end."""
    return commitment.auto_renews & (commitment.renewal_error == "")


def was_renewed(commitment: Any) -> Any:
    following = Stored.alias("following")
    is_live = following.status.in_(["planned", "pending", "confirmed"])
    return fn.EXISTS(following.select(following.id).where(following.predecessor == commitment.id, is_live))


IS_LIVE = Stored.status.in_(sorted(status.value for status in LIVE))


_NAMES = Commitment.__struct_fields__
COLUMNS = tuple(Stored._meta.columns[name] for name in _NAMES)
_STATUS, _AUTO_RENEWS = _NAMES.index("status"), _NAMES.index("auto_renews")
_SELECT = Stored.select(*COLUMNS).order_by(Stored.id)

_CAN_CHANGE = (
    *(Stored.project, Stored.duration, Stored.status, Stored.confirmed_at, Stored.expires_at, Stored.superseded_at),
    *(Stored.transfer_status, Stored.transfer_token, Stored.auto_renews, Stored.renewal_error),
)


def _from_row(*row: Any) -> Commitment:
    values = list(row)
    values[_STATUS] = Status(values[_STATUS])
    values[_AUTO_RENEWS] = bool(values[_AUTO_RENEWS])  # SQLite has no booleans
    return Commitment(*values)


_commitments = made(_from_row, *[Any] * len(COLUMNS))


def to_values(commitment: Commitment) -> dict[str, Any]:
    """Returns the row of a commitment, in the order of `COLUMNS`."""
    return {name: getattr(commitment, name) for name in _NAMES} | {"status": commitment.status.value}


_INSERT = Compiled(
    lambda p: Stored.insert({column: getattr(p, column.column_name) for column in COLUMNS[1:]}).returning(Stored.id)
)
_UPDATE = Compiled(
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


@writes
def _delete(id_: int) -> Node:
    return Stored.delete().where(Stored.id == id_)


def delete(engine: Engine, ids: Iterable[int]) -> None:
    for id_ in ids:
        _delete(engine, id_)


@_commitments
def _with(column: Literal["id", "transfer_token"], key: int | str) -> Node:
    return _SELECT.where(getattr(Stored, column) == key)


def find(engine: Engine, id_: int) -> Commitment | None:
    return next(iter(_with(engine, "id", id_)), None) if 0 < id_ < 2**63 else None


def find_by_token(engine: Engine, token: str) -> Commitment | None:
    return next(iter(_with(engine, "transfer_token", token)), None)


@made(_from_row, *[Any] * len(COLUMNS), prepare=True)
def of_project(project_id: int) -> Node:
    return _SELECT.where(Stored.project == project_id)


@_commitments
def live_in(resource_id: int) -> Node:
    return _SELECT.where(Stored.resource == resource_id, IS_LIVE)


@value(int, prepare=True)
def amount_held_at(project_id: int, resource_id: int, time: float) -> Node:
    """The sum of a project's commitments to a resource that hold, or are to hold, at that time. Those marked for
    transfer do not count."""
    return Stored.select(fn.COALESCE(fn.SUM(Stored.amount), 0)).where(
        Stored.project == project_id,
        Stored.resource == resource_id,
        IS_LIVE,
        Stored.transfer_status == "",
        Stored.expires_at > time,
        (Stored.status == "confirmed") | (Stored.confirm_by <= time),
    )


def _is_renewed_before(before: float) -> Any:
    return (Stored.status == "confirmed") & (Stored.auto_renews & (Stored.expires_at <= before))


@_commitments
def renewing(resource_id: int, before: float) -> Node:
    """Confirmed commitments to a resource that are to be renewed by themselves, and that end before then."""
    return _SELECT.where(Stored.resource == resource_id, _is_renewed_before(before))


@column(int)
def renewing_resources(before: float) -> Node:
    return Stored.select(Stored.resource).distinct().where(_is_renewed_before(before)).order_by(Stored.resource)


def _is_unsettled(now: float) -> Any:
    """Each of the three is found by an index."""
    is_due = (Stored.status == "planned") & (Stored.confirm_by <= now)
    return (Stored.status == "pending") | is_due | (IS_LIVE & (Stored.expires_at <= now))


@_commitments
def unsettled(resource_id: int, now: float) -> Node:
    """Commitments to a resource that time or capacity may change: due to expire, planned and due, or pending."""
    return _SELECT.where(Stored.resource == resource_id, _is_unsettled(now))


@column(int)
def unsettled_resources(now: float) -> Node:
    return Stored.select(Stored.resource).distinct().where(_is_unsettled(now)).order_by(Stored.resource)


@distinct(int)
def waiting_resources() -> Node:
    return Stored.select(Stored.resource).distinct().where(Stored.status == "pending")


@column(str)
def live_services() -> Node:
    has_live = fn.EXISTS(Stored.select(Value(1)).where(Stored.resource == Resource.id, IS_LIVE))
    return Service.select(Service.type).where(Service.id.in_(Resource.select(Resource.service).where(has_live)))


@made(_from_row, *[Any] * len(COLUMNS), skip_empty="project_uuids")
def unconfirmed_of(project_uuids: Sequence[str]) -> Node:
    projects = Project.select(Project.id).where(any_of(Project.uuid, project_uuids))
    return _SELECT.where(Stored.status.in_(["planned", "pending"]), Stored.project.in_(projects))


@made(_from_row, *[Any] * len(COLUMNS), skip_empty="resources")
def public(resources: Collection[int], now: float) -> Node:
    is_offered = (Stored.transfer_status == "public", Stored.status == "confirmed", Stored.expires_at > now)
    return _SELECT.where(*is_offered, any_of(Stored.resource, resources))


@column(int, prepare=True)
def _renewals(id_: int, project: int, starts_at: float) -> Node:
    """Walks back to everything that the commitment was made of, and from the renewals of that on to everything made of
    them. Other parts of what it was made of are no renewals: they begin when it does."""
    older, renewal, newer = Stored.alias(), Stored.alias(), Stored.alias()
    itself = Stored.select(Stored.id, Stored.predecessor).where(Stored.id == id_)
    past = itself.cte("past", recursive=True, columns=("id", "predecessor_id"))
    past = past.union(
        older.select(older.id, older.predecessor)
        .join(past, on=older.id == past.c.predecessor_id)
        .where(older.status == "superseded")
    )
    renewals = (
        renewal.select(renewal.id)
        .join(past, on=renewal.predecessor == past.c.id)
        .where(renewal.confirm_by > starts_at)
        .cte("renewals", recursive=True, columns=("id",))
    )
    renewals = renewals.union(newer.select(newer.id).join(renewals, on=newer.predecessor == renewals.c.id))
    is_one = Stored.id.in_(Select([renewals], [renewals.c.id]))
    return (
        Stored.select(Stored.id)
        .where(is_one, IS_LIVE, Stored.project == project, Stored.confirm_by > starts_at)
        .order_by(Stored.id)
        .limit(1)
        .with_cte(past, renewals)
    )


def require_not_renewed(engine: Engine, commitment: Commitment, consequence: str = "") -> None:
    """Raises `Conflict` if the project already has a live commitment that begins later and renews this one, or one that
    this one was made of, or that was made of such a renewal. `consequence` ends the message."""
    for renewal in _renewals(engine, commitment.id, commitment.project_id, commitment.starts_at):
        raise Conflict(f"commitment {commitment.id} was already renewed, as commitment {renewal}{consequence}")


@column(int)
def ended_before(time: float, limit: int) -> Node:
    """The lowest `limit` numbers of commitments that can go: they expired before that time, or were superseded, and
    nothing that was made of them is left: through it, renewals are found."""
    successor = Stored.alias()
    has_successors = fn.EXISTS(successor.select(successor.id).where(successor.predecessor == Stored.id))
    has_expired = (Stored.status == "expired") & (Stored.expires_at < time)
    is_replaced = (Stored.status == "superseded") & (Stored.superseded_at < time) & ~has_successors
    return Stored.select(Stored.id).where(has_expired | is_replaced).order_by(Stored.id).limit(limit)


# -- idempotency keys, by project --------------------------------------------------------------------------------------


class KeyRow(NamedTuple):
    request: str
    document: str


@writes
def _claim(project_id: int, key: str, now: float) -> Node:
    row = CommitmentKey
    return row.insert(project=project_id, key=key, request="", document="", created_at=now).on_conflict_ignore()


@first(KeyRow, prepare=True)
def _by_key(project_id: int, key: str) -> Node:
    row = CommitmentKey
    return row.select(row.request, row.document).where(row.project == project_id, row.key == key)


def claim_key(engine: Engine, project_id: int, key: str, now: float) -> KeyRow | None:
    """Returns the earlier answer under this key. None if the key is new: no other request can use it until the
    transaction ends. Waits for another transaction that is using the key. After None, `remember_key` or a rollback has
    to follow."""
    if _claim(engine, project_id, key, now):
        return None
    row = _by_key(engine, project_id, key)
    assert row is not None  # keys are deleted only long after their use
    return row


@writes
def remember_key(project_id: int, key: str, request: str, document: str, now: float) -> Node:
    row = CommitmentKey
    update = row.update(request=request, document=document, created_at=now)
    return update.where(row.project == project_id, row.key == key)


@writes
def forget_keys_before(time: float) -> Node:
    return CommitmentKey.delete().where(CommitmentKey.created_at < time)
