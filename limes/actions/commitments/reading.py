"""Reading commitments and their events. Nothing is written."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import orjson

from limes.actions.commitments import store
from limes.actions.commitments.store import CommitmentView
from limes.actions.context import Limes
from limes.actions.lookup import find_project
from limes.core.commitments.commitment import advance
from limes.core.commitments.reshaping import NO_DEADLINES, deadlines_of
from limes.core.selection import Selection
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import commitment_events
from limes.db.queries import commitments as queries
from limes.db.queries.commitment_events import NumberedEvent
from limes.db.transactions import snapshot
from limes.errors import NotFound

_TOKEN = re.compile(r"[0-9a-f]{1,100}")
"""Anything else is no transfer token, and perhaps not a text that the database accepts."""

_EVENTS_AT_ONCE = 10_000
_FOR_EVER = 2.0**40


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """Which changes are wanted."""

    values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By field of the commitment, as it was after the change."""
    since: float = 0
    until: float = math.inf
    """Times of changes, in seconds since the epoch; `until` itself is not among them."""

    def accepts(self, commitment: Mapping[str, Any]) -> bool:
        """Returns whether a change of that time is wanted, after which the commitment is like this."""
        return all(commitment[name] in wanted for name, wanted in self.values.items())


class Events(NamedTuple):
    """Changes of commitments, and the number after which to go on: with a selection, that of the last one read."""

    shown: list[NumberedEvent]
    next: int


@snapshot
def commitments_of_project(
    limes: Limes, domain_uuid: str, project_uuid: str, selection: Selection, *, with_history: bool = False
) -> list[CommitmentView]:
    """Returns a project's commitments by number, with ended ones if `with_history`. Raises `NotFound`. Commitments are
    shown as time has changed them, even if the job has not stored that yet."""
    project = find_project(limes.engine, domain_uuid, project_uuid)
    wanted, now = set(selection.refs), limes.now()
    present = [advance(each, now) for each in queries.of_project(limes.engine, project.id)]
    deadlines = deadlines_of(present, limes.settings.commitments, now)
    return [
        replace(each, deadlines=deadlines.get(each.commitment.id, NO_DEADLINES))
        for each in store.views(limes, (each for each in present if with_history or each.is_live))
        if each.ref in wanted
    ]


@snapshot
def public_commitments(limes: Limes, selection: Selection) -> list[CommitmentView]:
    ids = catalog_queries.resource_ids(limes.engine)
    wanted = [ids[ref] for ref in selection.refs if ref in ids]
    return store.views(limes, queries.public(limes.engine, wanted, limes.now()))


@snapshot
def commitment_by_token(limes: Limes, token: str) -> CommitmentView:
    """Returns the commitment that is marked for transfer with this token. Raises `NotFound`."""
    commitment = queries.find_by_token(limes.engine, token) if _TOKEN.fullmatch(token) else None
    if commitment is None or not advance(commitment, limes.now()).is_live:
        raise NotFound("no matching commitment found")
    return store.view(limes, replace(commitment, transfer_token=None))


@snapshot
def changes_after(limes: Limes, since: int, limit: int, selection: Selection, changes: ChangeFilter) -> Events:
    """Returns at most `limit` changes of commitments, over all projects, that come after number `since`. The answer is
    only empty if there are no more: with a selection, events are read until one matches."""
    is_whole = selection.is_whole(limes.catalog)  # also resources that are not configured any more
    if is_whole and not changes.values and changes.since <= 0 and changes.until >= _FOR_EVER:
        events = commitment_events.after(limes.engine, since, limit)
        return Events(events, events[-1].number if events else since)
    refs, times = set(selection.refs), (changes.since, changes.until)
    shown: list[NumberedEvent] = []
    while not shown and (batch := commitment_events.after(limes.engine, since, _EVENTS_AT_ONCE, *times)):
        for event in batch:
            since = event.number
            commitment = orjson.loads(event.document)
            is_selected = is_whole or (commitment["service_type"], commitment["resource_name"]) in refs
            if is_selected and changes.accepts(commitment):
                shown.append(event)
            if len(shown) == limit:
                return Events(shown, since)
    return Events(shown, since)
