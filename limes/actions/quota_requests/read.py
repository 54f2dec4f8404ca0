"""Shows requests, and the conversation about one of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from limes.actions.context import Limes
from limes.actions.lookup import Place, find
from limes.actions.quota_requests.store import lock_request, no_such_request, record_step
from limes.core.quota_requests import EventKind
from limes.db.engine import Engine
from limes.db.queries import quota_request_lists as lists
from limes.db.queries import quota_requests as queries
from limes.db.queries.projects import ProjectRow
from limes.db.queries.quota_request_lists import Filters, RequestRow
from limes.db.queries.quota_requests import AmountRow, EventRow
from limes.db.transactions import atomic, snapshot
from limes.errors import Conflict

MOST_EVENTS = 200
"""How long a conversation can get by comments."""
_LATEST = 20
"""As much of a conversation as the answers to changes have."""


@dataclass(frozen=True, slots=True)
class Described:
    """A request with all that is to be shown of it."""

    row: RequestRow
    amounts: Sequence[AmountRow]
    passed_on_to: int | None
    """The number of the domain's request."""
    conversation: Sequence[EventRow] = ()
    first: int = 1
    """The number of its first entry here."""
    entries: int = 0
    """How many it has in all."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the requests that were asked for."""

    requests: Sequence[Described]
    total: int
    """How many there are in all."""


@snapshot
def list_requests(limes: Limes, place: Place | None, filters: Filters, before: int, limit: int) -> Page:
    """Lists the requests of a project; those of a domain and of all its projects; or, without a place, all. The newest
    are first; `before` is the number of a request. Raises `NotFound`."""
    if place is not None:
        target = find(limes.engine, place)
        is_project = isinstance(target, ProjectRow)
        filters = replace(filters, project_id=target.id) if is_project else replace(filters, domain_id=target.id)
    rows = lists.page(limes.engine, filters, before, limit)
    return Page(_describe(limes.engine, rows), lists.count(limes.engine, filters))


@snapshot
def show_request(limes: Limes, place: Place, request_id: int, limit: int = _LATEST, before: int = 2**62) -> Described:
    """Returns a request of that project, or of that domain itself, with at most so many entries of its conversation
    before the one of a number, from 1. Raises `NotFound`."""
    engine = limes.engine
    find(engine, place)
    row = lists.one(engine, request_id)
    if row is None or Place(row.domain_uuid, row.project_uuid or "") != place:
        raise no_such_request(request_id)
    (described,) = _describe(engine, [row])
    entries = lists.count_events(engine, request_id)
    end = min(entries, before - 1)
    skipped = max(0, end - limit)
    some = lists.conversation(engine, request_id, skipped, end - skipped)
    return replace(described, conversation=some, first=skipped + 1, entries=entries)


def _describe(engine: Engine, rows: Sequence[RequestRow]) -> Sequence[Described]:
    ids = [row.id for row in rows]
    amounts = queries.amounts_of(engine, ids)
    above = lists.passed_on_as(engine, ids)
    return [Described(row, amounts[row.id], above.get(row.id)) for row in rows]


@atomic
def add_comment(limes: Limes, place: Place, request_id: int, text: str) -> None:
    """Adds a comment, even to a request that is closed. Raises `NotFound`, and `Conflict` after very many."""
    locked = lock_request(limes, place, request_id, must_be_open=False)
    if lists.count_events(limes.engine, request_id) >= MOST_EVENTS:
        raise Conflict(
            f"the conversation about quota request {request_id} has {MOST_EVENTS} entries already: no more"
            " comments are possible"
        )
    record_step(limes, locked.target, [request_id], EventKind.COMMENT, text)
