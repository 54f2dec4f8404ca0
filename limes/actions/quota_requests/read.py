"""Shows requests, and the conversation about one of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from limes.actions.quota_requests.desk import Desk, Place, no_such_request
from limes.audit.initiator import Initiator
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


@dataclass(frozen=True, slots=True)
class ReadRequests:
    """The use cases. Lists have the newest first; `before` is the number of a request."""

    desk: Desk

    @property
    def engine(self) -> Engine:
        """For `limes.db.transactions`."""
        return self.desk.engine

    def check_place(self, place: Place) -> None:
        """Raises `NotFound` if there is no such domain or project."""
        self.desk.find(place)

    @snapshot
    def of(self, place: Place, filters: Filters, before: int, limit: int) -> Page:
        """Lists the requests of a project; or those of a domain and of all its projects. Raises `NotFound`."""
        target = self.desk.find(place)
        if isinstance(target, ProjectRow):
            return self._page(replace(filters, project_id=target.id), before, limit)
        return self._page(replace(filters, domain_id=target.id), before, limit)

    def everywhere(self, filters: Filters, before: int, limit: int) -> Page:
        """Lists the requests of all domains and projects."""
        return self.desk.engine.snapshot(lambda: self._page(filters, before, limit))

    @snapshot
    def one(self, place: Place, request_id: int, limit: int = _LATEST, before: int = 2**62) -> Described:
        """Returns a request of that project, or of that domain itself, with at most so many entries of its conversation
        before the one of a number, from 1. Raises `NotFound`."""
        self.desk.find(place)
        row = lists.one(self.desk.engine, request_id)
        if row is None or (row.domain_uuid, row.project_uuid or "") != (place.domain_uuid, place.project_uuid):
            raise no_such_request(request_id)
        (described,) = self._describe([row])
        entries = lists.count_events(self.desk.engine, request_id)
        end = min(entries, before - 1)
        skipped = max(0, end - limit)
        some = lists.conversation(self.desk.engine, request_id, skipped, end - skipped)
        return replace(described, conversation=some, first=skipped + 1, entries=entries)

    @atomic
    def comment(self, place: Place, request_id: int, text: str, initiator: Initiator) -> None:
        """Adds a comment, even to a request that is closed. Raises `NotFound`, and `Conflict` after very many."""
        locked = self.desk.lock(place, request_id, must_be_open=False)
        if lists.count_events(self.desk.engine, request_id) >= MOST_EVENTS:
            raise Conflict(
                f"the conversation about quota request {request_id} has {MOST_EVENTS} entries already: no more"
                " comments are possible"
            )
        self.desk.record(locked.target, [request_id], EventKind.COMMENT, text, initiator)

    def _page(self, filters: Filters, before: int, limit: int) -> Page:
        rows = lists.page(self.desk.engine, filters, before, limit)
        return Page(self._describe(rows), lists.count(self.desk.engine, filters))

    def _describe(self, rows: Sequence[RequestRow]) -> Sequence[Described]:
        ids = [row.id for row in rows]
        amounts = queries.amounts_of(self.desk.engine, ids)
        above = lists.passed_on_as(self.desk.engine, ids)
        return [Described(row, amounts[row.id], above.get(row.id)) for row in rows]
