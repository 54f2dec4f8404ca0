"""Whose confirmed commitments were when: read from the events of commitments, in their order."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from limes.db.queries.commitment_events import NumberedEvent
from limes.db.queries.usage_sources import CommittedRow


def apply_events(
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


def changed_since(
    before: Mapping[str, Sequence[CommittedRow]], after: Mapping[tuple[str, int], CommittedRow]
) -> dict[str, int]:
    """Returns from when on the accounts of projects change, by UUID."""
    known = {(row.commitment_uuid, row.begins): row for rows in before.values() for row in rows}
    changed: dict[str, int] = {}
    for key, row in after.items():
        old = known.get(key)
        at = row.begins if old is None or old[3:] != row[3:] else min(old.ends, row.ends)
        for project in {row.project_uuid, *([old.project_uuid] if old else ())}:
            changed[project] = min(at, changed.get(project, at))
    return changed


def commitment_of(event: NumberedEvent) -> str:
    return str(orjson.loads(event.document)["uuid"])
