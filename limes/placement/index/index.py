"""The index itself. The package's docstring says what it promises, and why that holds."""

import logging
import os
import threading
from dataclasses import dataclass, field

from prometheus_client import Gauge, Histogram

from limes.db.engine import Engine
from limes.placement.index.load import ProviderLoader, Vocabulary, load_vocabulary
from limes.placement.index.poll import BEGINNING, Changes, Mark, poll
from limes.placement.objects.change import TOMBSTONE_SECONDS
from limes.placement.search.model import Cloud
from limes.system import Clock

log = logging.getLogger(__name__)

# each worker has an index of its own
REFRESH = Histogram(
    "limes_placement_index_refresh_seconds",
    "Time to bring the index up to date; kind is changes or everything",
    ["kind"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
PROVIDERS = Gauge(
    "limes_placement_index_providers",
    "Resource providers in the index of the worker that has the most",
    multiprocess_mode="livemax",
)
for _kind in ("changes", "everything"):
    REFRESH.labels(_kind)


@dataclass(slots=True)
class _State:
    """One state of the database. Nothing in it changes, but for `polled_at`."""

    mark: Mark = BEGINNING
    cloud: Cloud = field(default_factory=Cloud)
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    vocabulary_stamps: dict[str, int] = field(default_factory=dict)
    polled_at: float = 0.0
    """Monotonic seconds: when the database was last asked."""

    def is_followed_by(self, changes: Changes, now: float) -> bool:
        """Returns whether `changes` has all that is new, so that not everything has to be read again."""
        fresh = now - self.polled_at < TOMBSTONE_SECONDS / 2
        return self.mark is not BEGINNING and fresh and changes.mark.may_follow(self.mark)

    def has_all(self, changes: Changes) -> bool:
        """Returns whether there is nothing new in `changes`."""
        return (
            all(self.has(key, changed) for key, changed in changes.providers.items())
            and all(self.vocabulary_stamps.get(name) == changed for name, changed in changes.vocabularies.items())
            and not any(key in self.cloud.by_id for key in changes.gone)
        )

    def has(self, provider_id: int, stamp: int) -> bool:
        """Returns whether this state has the provider as it became with the stamp."""
        provider = self.cloud.by_id.get(provider_id)
        return provider is not None and provider.stamp == stamp


class ProviderIndex:
    """All providers of one database, in memory. Safe to use from many threads, and after a fork."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine.primary  # a standby may lack an acknowledged write
        self._clock = clock
        self._loader = ProviderLoader(self._engine)
        self._state = _State()
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def heir(self, engine: Engine) -> "ProviderIndex":
        """Returns an index with connections of its own that begins with what this one has read last.

        For a process that was forked from the one that has read it: they share the memory of what does not change.
        """
        heir = ProviderIndex(engine, self._clock)
        heir._state = self._state
        return heir

    def load(self) -> None:
        """Reads everything, unless that has been done. Raises `Unavailable`."""
        if self._state.mark is BEGINNING:
            self.current()

    def current(self) -> Cloud:
        """Returns the cloud as it is now, with all that was committed before this call. Not inside a transaction."""
        if self._pid != os.getpid():
            self._lock, self._pid = threading.Lock(), os.getpid()
        state = self._state
        now = self._clock.monotonic()
        with self._engine.connection():
            changes = poll(self._engine, state.mark)
            if state.is_followed_by(changes, now) and state.has_all(changes):
                state.polled_at = now
                return state.cloud
            with self._lock:
                self._state = self._engine.snapshot(self._next_state)
                PROVIDERS.set(len(self._state.cloud.by_id))
                return self._state.cloud

    def _next_state(self) -> _State:
        state, now = self._state, self._clock.monotonic()
        changes = poll(self._engine, state.mark)
        if not state.is_followed_by(changes, now):
            if state.mark is not BEGINNING:
                log.warning("the provider index starts afresh: the database is another one, or was not polled for long")
            state = _State()
            changes = poll(self._engine, BEGINNING)
        vocabulary = state.vocabulary
        if any(state.vocabulary_stamps.get(name) != changed for name, changed in changes.vocabularies.items()):
            vocabulary = load_vocabulary(self._engine)
            if vocabulary.renames(state.vocabulary):
                state = _State()
                changes = poll(self._engine, BEGINNING)
        return self._apply(state, changes, vocabulary, now)

    def _apply(self, state: _State, changes: Changes, vocabulary: Vocabulary, now: float) -> _State:
        changed = [key for key, stamp in changes.providers.items() if not state.has(key, stamp)]
        everything = state.mark is BEGINNING
        started = self._clock.monotonic()
        providers = list(self._loader.load(vocabulary, None if everything else changed))
        cloud = state.cloud.replace(
            providers,
            changes.gone,
            traits={name: key for key, name in vocabulary.traits.items()},
            classes={name: key for key, name in vocabulary.classes.items()},
        )
        kind = "everything" if everything else "changes"
        REFRESH.labels(kind).observe(self._clock.monotonic() - started)
        return _State(changes.mark, cloud, vocabulary, {**state.vocabulary_stamps, **changes.vocabularies}, now)
