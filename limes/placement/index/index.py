"""The index itself. The package's docstring says what it promises, and why the promise holds."""

import logging
import os
import threading
from dataclasses import dataclass, field

from limes.db.engine import Engine
from limes.placement.index import metrics
from limes.placement.index.load import ProviderLoader, Vocabulary, load_vocabulary
from limes.placement.index.look import BEGINNING, Look, Mark, look
from limes.placement.objects.change import TOMBSTONE_SECONDS
from limes.placement.search.model import Cloud
from limes.system import Clock

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _State:
    """One state of the database. Nothing in it changes, but for `looked_at`."""

    mark: Mark = BEGINNING
    cloud: Cloud = field(default_factory=Cloud)
    stamps: dict[int, int] = field(default_factory=dict)
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    vocabulary_stamps: dict[str, int] = field(default_factory=dict)
    looked_at: float = 0.0
    """Monotonic seconds: when the database was last asked."""

    def is_followed_by(self, found: Look, now: float) -> bool:
        """Whether `found` tells all that is new, so that not everything has to be read again."""
        fresh = now - self.looked_at < TOMBSTONE_SECONDS / 2
        return self.mark is not BEGINNING and fresh and found.mark.may_follow(self.mark)

    def has_all(self, found: Look) -> bool:
        """Whether there is nothing new in `found`."""
        return (
            all(self.stamps.get(key) == changed for key, changed in found.providers.items())
            and all(self.vocabulary_stamps.get(name) == changed for name, changed in found.vocabularies.items())
            and found.gone.isdisjoint(self.stamps)
        )


class ProviderIndex:
    """All providers of one database, in memory. Safe to use from many threads, and after a fork."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock
        self._loader = ProviderLoader(engine)
        self._state = _State()
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def current(self) -> Cloud:
        """The cloud as it is now: with all that was committed before this call. Not to be called in a transaction."""
        if self._pid != os.getpid():
            self._lock, self._pid = threading.Lock(), os.getpid()
        state = self._state
        now = self._clock.monotonic()
        with self._engine.connection():
            found = look(self._engine, state.mark)
            if state.is_followed_by(found, now) and state.has_all(found):
                state.looked_at = now
                return state.cloud
            with self._lock:
                self._state = self._engine.snapshot(self._next)
                metrics.PROVIDERS.set(len(self._state.stamps))
                return self._state.cloud

    def _next(self) -> _State:
        state, now = self._state, self._clock.monotonic()
        found = look(self._engine, state.mark)
        if not state.is_followed_by(found, now):
            if state.mark is not BEGINNING:
                log.warning(
                    "the provider index starts afresh: the database is another than before, or was not asked long"
                )
            state = _State()
            found = look(self._engine, BEGINNING)
        vocabulary = state.vocabulary
        if any(state.vocabulary_stamps.get(name) != changed for name, changed in found.vocabularies.items()):
            vocabulary = load_vocabulary(self._engine)
            if vocabulary.renames(state.vocabulary):
                state = _State()
                found = look(self._engine, BEGINNING)
        return self._follow(state, found, vocabulary, now)

    def _follow(self, state: _State, found: Look, vocabulary: Vocabulary, now: float) -> _State:
        changed = [key for key, stamp in found.providers.items() if state.stamps.get(key) != stamp]
        everything = state.mark is BEGINNING
        started = self._clock.monotonic()
        providers = list(self._loader.load(vocabulary, None if everything else changed))
        gone = found.gone & state.stamps.keys()
        stamps = {**state.stamps, **found.providers}
        for key in gone:
            stamps.pop(key, None)
        cloud = state.cloud.replace(
            providers,
            gone,
            traits={name: key for key, name in vocabulary.traits.items()},
            classes={name: key for key, name in vocabulary.classes.items()},
        )
        kind = "everything" if everything else "changes"
        metrics.REFRESH.labels(kind).observe(self._clock.monotonic() - started)
        return _State(found.mark, cloud, stamps, vocabulary, {**state.vocabulary_stamps, **found.vocabularies}, now)
