"""What each tree gave for recent queries, so that a repeated query looks only at trees that changed since.

Clients ask for the same few flavors again and again, and few of a cloud's trees change in between. A tree is never
changed but replaced, so what it gave holds for as long as the tree is the same object. `search` keeps only what depends
on nothing but the tree.
"""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence

from limes.placement.search.model import Tree
from limes.placement.search.rules import Assignment

DEFAULT_BYTES = 48 * 1024 * 1024
MOST_QUERIES = 64
# The most that an entry takes. The index has most providers of the candidates as well. But those of a tree that was
# replaced since the query last came are kept here alone.
_BYTES_PER_TREE = 300
_BYTES_PER_CANDIDATE = 280
_BYTES_PER_SLOT = 8
_BYTES_PER_OLD_TREE = 2000


class QueryMemory:
    """What trees gave for one query, in about `most` bytes, a quarter of which is reserved for JSON.

    Safe to use from many threads.
    """

    __slots__ = ("_lock", "_most", "bytes", "texts", "trees")

    def __init__(self, most: int = DEFAULT_BYTES) -> None:
        self.trees: dict[int, tuple[weakref.ref[Tree], Sequence[Assignment]]] = {}
        """By the root's id: the tree as it was, and all its candidates."""
        self.texts: dict[Assignment, str | None] = {}
        """The JSON of each of these candidates, once it is rendered."""
        self.bytes = 0
        self._most = most
        self._lock = threading.Lock()

    def keep(self, tree: Tree, candidates: Sequence[Assignment]) -> None:
        """Remembers all candidates of `tree`, in place of those of an earlier tree with the same root."""
        with self._lock:
            self._forget(tree.root.id)
            if self._is_full():
                return
            self.trees[tree.root.id] = (weakref.ref(tree), candidates)
            self.texts.update(dict.fromkeys(candidates))
            self.bytes += _size(candidates)

    def forget(self, tree: Tree) -> None:
        """Forgets what an earlier tree with the same root gave."""
        with self._lock:
            self._forget(tree.root.id)

    def make_room(self) -> None:
        """If memory is full, forgets trees that no longer exist."""
        with self._lock:
            if self._is_full():
                for root_id in [root_id for root_id, (tree, _) in self.trees.items() if tree() is None]:
                    self._forget(root_id)

    def _is_full(self) -> bool:
        return self.bytes > self._most * 3 // 4

    def _forget(self, root_id: int) -> None:
        before = self.trees.pop(root_id, None)
        if before is not None:
            texts = [self.texts.pop(candidate) for candidate in before[1]]
            self.bytes -= _size(before[1]) + sum(len(text) for text in texts if text)

    def keep_texts(self, texts: Mapping[Assignment, str]) -> None:
        """Remembers the JSON of the candidates that are kept, as far as there is room."""
        with self._lock:
            for candidate, text in texts.items():
                if self.bytes + len(text) > self._most:
                    return
                if self.texts.get(candidate, text) is None:
                    self.texts[candidate] = text
                    self.bytes += len(text)


def _size(candidates: Sequence[Assignment]) -> int:
    """Returns the bytes of a tree with these candidates, without their JSON."""
    of_candidates = sum(_BYTES_PER_CANDIDATE + _BYTES_PER_SLOT * len(candidate) for candidate in candidates)
    return _BYTES_PER_TREE + (_BYTES_PER_OLD_TREE if candidates else 0) + of_candidates


class AnswerMemory:
    """The memories of the `MOST_QUERIES` most recent queries, in about `most` bytes together.

    A single query may fill it all; the bound is enforced when the next query comes.
    """

    def __init__(self, most: int = DEFAULT_BYTES) -> None:
        self._most = most
        self._queries: OrderedDict[Hashable, QueryMemory] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, query: Hashable) -> QueryMemory:
        """Returns the memory of a query. `query` has to hold everything that the JSON of a candidate depends on."""
        with self._lock:
            memory = self._queries.setdefault(query, QueryMemory(self._most))
            self._queries.move_to_end(query)
            size = sum(known.bytes for known in self._queries.values())
            while size > self._most or len(self._queries) > MOST_QUERIES:
                size -= self._queries.popitem(last=False)[1].bytes
        memory.make_room()
        return memory
