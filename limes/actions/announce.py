"""Puts notifications about what happens into the outbox, in the transaction in which it happens.

So each is told once, and none is lost if a process dies.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from limes.actions.context import Limes
from limes.core.notifications import PREFIX
from limes.db.queries import outbox


def announce(
    limes: Limes, kind: str, remedy: str, at: float, documents: Iterable[tuple[str, Mapping[str, Any]]]
) -> None:
    """Tells each sink, each document in its stream. If nobody wants the kind, they are not even made."""
    section = limes.settings.notifications
    if not section.sinks or kind in section.except_kinds:
        return
    rows = []
    for stream, document in documents:
        id_ = limes.ids.uuid()
        text = orjson.dumps({"id": id_, "kind": kind, "at": int(at), "remedy": remedy, **document}).decode()
        rows += [(at, PREFIX + sink, stream, id_, text) for sink in section.sinks]
    outbox.append(limes.engine, rows)
