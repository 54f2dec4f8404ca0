"""Has quota computed anew where operators have changed overrides."""

import threading

from limes.actions.context import Limes
from limes.core.catalog import Ref
from limes.core.constraints import NO_OVERRIDES, QuotaOverrides
from limes.db.queries.autogrow import mark_due
from limes.db.queries.catalog import resource_ids
from limes.db.transactions import atomic


class FollowOverrides:
    """A process has one, which knows what it has seen last.

    Several processes that see the same change have the same resources computed, which writes nothing the second time.
    """

    def __init__(self, limes: Limes) -> None:
        self._limes = limes
        self._seen = NO_OVERRIDES
        self._lock = threading.Lock()

    def run(self) -> bool:
        """Returns whether there are overrides that it has not seen; at first, all are new to it.

        What fails is done with the next run.
        """
        with self._lock:
            overrides = self._limes.overrides()
            changed = {ref for ref in self._changed(overrides) if self._limes.catalog.autogrow(ref) is not None}
            if changed:
                _mark(self._limes, changed)
            self._seen = overrides
            return bool(changed)

    def _changed(self, overrides: QuotaOverrides) -> set[Ref]:
        if overrides is self._seen:
            return set()
        return {entry.ref for entry in set(overrides.items()) ^ set(self._seen.items())}


@atomic
def _mark(limes: Limes, refs: set[Ref]) -> None:
    ids = resource_ids(limes.engine)
    mark_due(limes.engine, [ids[ref] for ref in sorted(refs) if ref in ids], limes.now())
