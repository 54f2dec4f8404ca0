"""What each tree gave for recent queries, so that a query that comes again looks only at trees that changed since.

Clients ask for the same few flavors again and again, and between two questions few of a cloud's trees change. Trees are
never changed but replaced, so what a tree gave is true for as long as the tree is the same object, as far as nothing
else has a say in it; `search` sees to that.
"""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence

from limes.placement.search.model import Tree
from limes.placement.search.rules import Assignment

DEFAULT_BYTES = 48 * 1024 * 1024
MOST_QUERIES = 64
# What an entry takes at most. The providers of a candidate are mostly those of the index; if their tree was replaced
# since the query came last, nobody else has them any more.
_BYTES_PER_TREE = 300
_BYTES_PER_CANDIDATE = 280
_BYTES_PER_SLOT = 8
_BYTES_PER_OLD_TREE = 2000


class QueryMemory:
    """What trees gave for one query, in at most about `most` bytes, of which a quarter is left to JSON.

    Safe to use from many threads.
    """

    __slots__ = ("_lock", "_most", "bytes", "texts", "trees")

    def __init__(self, most: int = DEFAULT_BYTES) -> None:
        self.trees: dict[int, tuple[weakref.ref[Tree], Sequence[Assignment]]] = {}
        """By the root's id: the tree as it was, and all its candidates."""
        self.texts: dict[Assignment, str | None] = {}
        """For each of these candidates its JSON, once it is written."""
        self.bytes = 0
        self._most = most
        self._lock = threading.Lock()

    def keep(self, tree: Tree, candidates: Sequence[Assignment]) -> None:
        """Remembers all candidates of `tree`, instead of those that a tree with the same root had before."""
        with self._lock:
            self._forget(tree.root.id)
            if self._is_full():
                return
            self.trees[tree.root.id] = (weakref.ref(tree), candidates)
            self.texts.update(dict.fromkeys(candidates))
            self.bytes += _size(candidates)

    def forget(self, tree: Tree) -> None:
        """Forgets what a tree with the same root had before."""
        with self._lock:
            self._forget(tree.root.id)

    def make_room(self) -> None:
        """Forgets trees that nobody has any more, if there is no room for others."""
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
        """Remembers the JSON of those candidates that are kept, as far as there is room."""
        with self._lock:
            for candidate, text in texts.items():
                if self.bytes + len(text) > self._most:
                    return
                if self.texts.get(candidate, text) is None:
                    self.texts[candidate] = text
                    self.bytes += len(text)


def _size(candidates: Sequence[Assignment]) -> int:
    """Bytes of a tree with these candidates, but for their JSON."""
    of_candidates = sum(_BYTES_PER_CANDIDATE + _BYTES_PER_SLOT * len(candidate) for candidate in candidates)
    return _BYTES_PER_TREE + (_BYTES_PER_OLD_TREE if candidates else 0) + of_candidates


class AnswerMemory:
    """The memories of the `MOST_QUERIES` queries that came last, in about `most` bytes together.

    One query may have all of it. How much is too much is seen when the next query comes.
    """

    def __init__(self, most: int = DEFAULT_BYTES) -> None:
        self._most = most
        self._queries: OrderedDict[Hashable, QueryMemory] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, query: Hashable) -> QueryMemory:
        """The memory of a query. `query` has to tell everything that the text of a candidate depends on."""
        with self._lock:
            memory = self._queries.setdefault(query, QueryMemory(self._most))
            self._queries.move_to_end(query)
            size = sum(known.bytes for known in self._queries.values())
            while size > self._most or len(self._queries) > MOST_QUERIES:
                size -= self._queries.popitem(last=False)[1].bytes
        memory.make_room()
        return memory
