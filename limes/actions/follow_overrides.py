"""Has quota computed anew where operators have changed overrides."""

import threading
from collections.abc import Callable

from limes.core.catalog import Catalog, Ref
from limes.core.overrides import NO_OVERRIDES, QuotaOverrides
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries.autogrow import mark_due
from limes.system import Clock


class FollowOverrides:
    """The use case of one process, which knows what it has seen last.

    Several processes that see the same change have the same resources computed, which writes nothing the second time.
    """

    def __init__(self, engine: Engine, catalog: Catalog, clock: Clock, overrides: Callable[[], QuotaOverrides]) -> None:
        self._engine = engine
        self._catalog = catalog
        self._clock = clock
        self._overrides = overrides
        self._seen = NO_OVERRIDES
        self._lock = threading.Lock()

    def run(self) -> bool:
        """Returns whether there are overrides that it has not seen; at first, all are new to it.

        What fails is done with the next run.
        """
        with self._lock:
            overrides = self._overrides()
            changed = {ref for ref in self._changed(overrides) if self._catalog.autogrow(ref) is not None}
            if changed:
                self._engine.atomic(lambda: self._mark(changed))
            self._seen = overrides
            return bool(changed)

    def _changed(self, overrides: QuotaOverrides) -> set[Ref]:
        if overrides is self._seen:
            return set()
        return {entry.ref for entry in set(overrides.items()) ^ set(self._seen.items())}

    def _mark(self, refs: set[Ref]) -> None:
        ids = catalog_queries.resource_ids(self._engine)
        mark_due(self._engine, [ids[ref] for ref in sorted(refs) if ref in ids], self._clock.now().timestamp())
