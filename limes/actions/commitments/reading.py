"""Lists of commitments. They read what they show, and nothing else."""

import re
from dataclasses import dataclass, replace
from typing import NamedTuple

import orjson

from limes.actions.commitments.ledger import Described, Ledger
from limes.actions.lookup import find_project
from limes.core.catalog import Ref
from limes.core.commitments.commitment import advance
from limes.core.selection import Selection
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import commitment_events
from limes.db.queries import commitments as queries
from limes.db.queries.commitment_events import NumberedEvent
from limes.errors import NotFound

_TOKEN = re.compile(r"[0-9a-f]{1,100}")
"""What can be a transfer token at all: other text need not trouble the database, which does not take all of it."""


_EVENTS_AT_ONCE = 10_000


class Events(NamedTuple):
    """Changes of commitments, and after which number to go on. With a selection, that is the last one looked at."""

    shown: list[NumberedEvent]
    next: int


@dataclass(frozen=True, slots=True)
class ReadCommitments:
    """The use cases."""

    ledger: Ledger

    def of_project(
        self, domain_uuid: str, project_uuid: str, selection: Selection, *, with_history: bool = False
    ) -> list[Described]:
        """A project's commitments by number; those that have expired or were superseded only with the history.

        What time alone has changed shows at once, even before the job has written it down. Raises `NotFound`.
        """
        ledger = self.ledger

        def read() -> list[Described]:
            project = find_project(ledger.engine, domain_uuid, project_uuid)
            wanted, now = set(selection.refs), ledger.now()
            found = [advance(one, now) for one in queries.of_project(ledger.engine, project.id)]
            shown = ledger.describe_all(one for one in found if with_history or one.is_live)
            return [one for one in shown if one.ref in wanted]

        return ledger.engine.snapshot(read)

    def public(self, selection: Selection) -> list[Described]:
        """What is offered to everybody, over all projects."""
        ledger = self.ledger

        def read() -> list[Described]:
            ids = catalog_queries.resource_ids(ledger.engine)
            wanted = [ids[ref] for ref in selection.refs if ref in ids]
            return ledger.describe_all(queries.public(ledger.engine, wanted, ledger.now()))

        return ledger.engine.snapshot(read)

    def by_token(self, token: str) -> Described:
        """The one that is marked for transfer with this token. Raises `NotFound`."""
        ledger = self.ledger

        def read() -> Described:
            found = queries.find_by_token(ledger.engine, token) if _TOKEN.fullmatch(token) else None
            if found is None or not advance(found, ledger.now()).is_live:
                raise NotFound("no matching commitment found")
            return ledger.described(replace(found, transfer_token=None))

        return ledger.engine.snapshot(read)

    def events(self, since: int, limit: int, selection: Selection) -> Events:
        """At most `limit` changes of commitments, over all projects, that come after number `since`.

        None at all only behind the last one: a selection is looked for until there is something to tell.
        """
        engine = self.ledger.engine
        if selection.is_whole(self.ledger.catalog):  # also of resources that are not configured any more
            found = engine.snapshot(lambda: commitment_events.after(engine, since, limit))
            return Events(found, found[-1].number if found else since)
        return engine.snapshot(lambda: self._selected_events(since, limit, set(selection.refs)))

    def _selected_events(self, since: int, limit: int, refs: set[Ref]) -> Events:
        shown: list[NumberedEvent] = []
        while not shown and (seen := commitment_events.after(self.ledger.engine, since, _EVENTS_AT_ONCE)):
            for event in seen:
                since = event.number
                commitment = orjson.loads(event.document)
                if (commitment["service_type"], commitment["resource_name"]) in refs:
                    shown.append(event)
                if len(shown) == limit:
                    return Events(shown, since)
        return Events(shown, since)
