"""What each tree gave for recent queries, so that a repeated query looks only at trees that changed since.

Clients ask for the same few flavors again and again, and few of a cloud's trees change in between. A tree is never
changed but replaced, so what it gave holds for as long as the tree is the same object. `search` keeps only what depends
on nothing but the tree.
"""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence

from limes.placement.search import matching, model

DEFAULT_BYTES = 48 * 1024 * 1024
MOST_QUERIES = 64
# The most that an entry takes. The index has most providers of the candidates as well. But those of a tree that was
# replaced since the query last came are kept here alone.
_BYTES_PER_TREE = 300
_BYTES_PER_CANDIDATE = 280
_BYTES_PER_SLOT = 8
_BYTES_PER_OLD_TREE = 2000


class QueryMemory:
    """What trees gave for one query. Safe to use from many threads."""

    __slots__ = ("_all", "bytes", "is_forgotten", "texts", "trees")

    def __init__(self, all_: "AnswerMemory") -> None:
        """`all_` is the memory that it is a part of, and that it must not make too large."""
        self.trees: dict[int, tuple[weakref.ref[model.Tree], Sequence[matching.Assignment]]] = {}
        """By the root's id: the tree as it was, and all its candidates."""
        self.texts: dict[matching.Assignment, str | None] = {}
        """The JSON of each of these candidates, once it is rendered."""
        self.bytes = 0
        self.is_forgotten = False
        """Whether it is no longer a part: a search that still has it gets and keeps nothing more."""
        self._all = all_

    def keep(self, tree: model.Tree, candidates: Sequence[matching.Assignment]) -> None:
        with self._all.lock:
            self._forget(tree.root.id)
            if self._is_full() or not self._all.has_room(self, _size(candidates)):
                return
            self.trees[tree.root.id] = (weakref.ref(tree), candidates)
            self.texts.update(dict.fromkeys(candidates))
            self._add(_size(candidates))

    def forget(self, tree: model.Tree) -> None:
        with self._all.lock:
            self._forget(tree.root.id)

    def make_room(self) -> None:
        """If memory is full, forgets trees that no longer exist."""
        with self._all.lock:
            if self._is_full():
                for root_id in [root_id for root_id, (tree, _) in self.trees.items() if tree() is None]:
                    self._forget(root_id)

    def forget_all(self) -> None:
        """Forgets everything permanently. To be called with the lock held."""
        self.is_forgotten = True
        self.trees.clear()
        self.texts.clear()
        self._add(-self.bytes)

    def _is_full(self) -> bool:
        return self.bytes > self._all.most * 3 // 4

    def _add(self, size: int) -> None:
        self.bytes += size
        self._all.bytes += size

    def _forget(self, root_id: int) -> None:
        before = self.trees.pop(root_id, None)
        if before is not None:
            texts = [self.texts.pop(candidate) for candidate in before[1]]
            self._add(-_size(before[1]) - sum(len(text) for text in texts if text))

    def keep_texts(self, texts: Mapping[matching.Assignment, str]) -> None:
        """Remembers the JSON of the candidates that are kept, as far as there is room."""
        with self._all.lock:
            for candidate, text in texts.items():
                if self.texts.get(candidate, text) is None:
                    if not self._all.has_room(self, len(text)):
                        return
                    self.texts[candidate] = text
                    self._add(len(text))


def _size(candidates: Sequence[matching.Assignment]) -> int:
    """Returns the bytes of a tree with these candidates, without their JSON."""
    of_candidates = sum(_BYTES_PER_CANDIDATE + _BYTES_PER_SLOT * len(candidate) for candidate in candidates)
    return _BYTES_PER_TREE + (_BYTES_PER_OLD_TREE if candidates else 0) + of_candidates


class AnswerMemory:
    """The memories of the `MOST_QUERIES` most recent queries: about `most` bytes together, however many run at once. A
    single query may fill it all, but for a quarter that is reserved for JSON."""

    def __init__(self, most: int = DEFAULT_BYTES) -> None:
        self.most = most
        self.bytes = 0
        self.lock = threading.Lock()
        """Guards this, and the memories of all queries."""
        self._queries: OrderedDict[Hashable, QueryMemory] = OrderedDict()

    def of(self, query: Hashable) -> QueryMemory:
        """Returns the memory of a query. `query` has to hold everything that the JSON of a candidate depends on."""
        with self.lock:
            memory = self._queries.get(query)
            if memory is None:
                memory = self._queries[query] = QueryMemory(self)
            self._queries.move_to_end(query)
            if len(self._queries) > MOST_QUERIES:
                self._forget_oldest()
        memory.make_room()
        return memory

    def has_room(self, memory: QueryMemory, size: int) -> bool:
        """Returns whether `memory` may take this many more bytes, and forgets older queries for it. Under the lock."""
        while (
            not memory.is_forgotten
            and self.bytes + size > self.most
            and next(iter(self._queries.values())) is not memory
        ):
            self._forget_oldest()
        return not memory.is_forgotten and self.bytes + size <= self.most

    def _forget_oldest(self) -> None:
        _, oldest = self._queries.popitem(last=False)
        oldest.forget_all()
