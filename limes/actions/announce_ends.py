"""Tells people that temporary quota was given back, in the transactions in which that happens.

So each end is told once, and none is lost if a process dies. Delivery is that of all notifications.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from limes.core.catalog import Catalog, Ref
from limes.core.notifications import PREFIX, TEMPORARY_QUOTA_ENDED
from limes.core.temporary_quota import Step, TemporaryQuota
from limes.db.engine import Engine
from limes.db.queries import outbox
from limes.db.queries.projects import DomainRow, ProjectRow
from limes.system import IdSource

_REMEDY = "Nothing has to be done."


@dataclass(frozen=True, slots=True)
class AnnounceEnds:
    """Writes notifications into the outbox. To be called inside the transaction."""

    engine: Engine
    catalog: Catalog
    ids: IdSource
    sinks: Sequence[str]
    except_kinds: frozenset[str] = frozenset()

    def given_back(
        self, place: DomainRow | ProjectRow, due: Mapping[Ref, TemporaryQuota], steps: Mapping[Ref, Step], at: float
    ) -> None:
        """Tells what has ended and is back at what it was. Of what could not be given back yet, alerts tell."""
        if not self.sinks or TEMPORARY_QUOTA_ENDED in self.except_kinds:
            return
        rows = []
        for ref, step in sorted(steps.items()):
            temporary = due[ref]
            if step.temporary is not None or temporary.before is None or step.quota != temporary.before:
                continue
            id_, stream = self.ids.uuid(), place.uuid
            head = {"id": id_, "kind": TEMPORARY_QUOTA_ENDED, "at": int(at), "remedy": _REMEDY}
            text = orjson.dumps(head | _place(place) | self._ended(ref, temporary)).decode()
            rows += [(at, PREFIX + sink, stream, id_, text) for sink in self.sinks]
        outbox.append(self.engine, rows)

    def _ended(self, ref: Ref, temporary: TemporaryQuota) -> dict[str, object]:
        resource = self.catalog.find(ref)
        unit = resource.unit.value if resource else ""
        return {
            "service": ref[0],
            "resource": ref[1],
            **({"unit": unit} if unit else {}),
            "quota": temporary.before,
            "temporary_quota": {
                "quota": temporary.quota,
                "quota_before": temporary.before,
                "from": int(temporary.starts_at),
                "until": int(temporary.until),
            },
        }


def _place(place: DomainRow | ProjectRow) -> dict[str, object]:
    if isinstance(place, ProjectRow):
        domain = {"id": place.domain_uuid, "name": place.domain_name}
        return {"domain": domain, "project": {"id": place.uuid, "name": place.name}}
    return {"domain": {"id": place.uuid, "name": place.name}}
