"""Immutable maps: a changed copy costs as much as the change, however large the map is.

The entries are in pieces of some hundred. A new map with other entries shares all pieces that stayed the same with the
old one. This saves more than time: memory that workers share since they were forked stays shared, because nobody
counts references to what has not changed.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Generic, Self, TypeVar

K = TypeVar("K", int, str)
V = TypeVar("V")

_ID_BITS = 7
_TEXT_PIECES = 1024


class Piece(dict[K, V]):
    """Some entries. They do not change once the piece is in a map."""

    made: Any = None
    """What a reader has made of all entries, and keeps here for the next one."""


class _PieceMap(Generic[K, V]):
    __slots__ = ("_pieces", "_size")

    def __init__(self) -> None:
        self._pieces: dict[int, Piece[K, V]] = {}
        self._size = 0

    @staticmethod
    def _number_of(key: K) -> int:
        raise NotImplementedError

    def _put_in_order(self, touched: Iterable[int]) -> None:
        """Sorts what may be out of order: these pieces, and the order of all."""

    def __len__(self) -> int:
        return self._size

    def __contains__(self, key: K) -> bool:
        return key in self._pieces.get(self._number_of(key), ())

    def __getitem__(self, key: K) -> V:
        return self._pieces[self._number_of(key)][key]

    def __iter__(self) -> Iterator[K]:
        return chain.from_iterable(self._pieces.values())

    def get(self, key: K) -> V | None:
        piece = self._pieces.get(self._number_of(key))
        return None if piece is None else piece.get(key)

    def values(self) -> Iterator[V]:
        return chain.from_iterable(piece.values() for piece in self._pieces.values())

    def pieces(self) -> Collection[Piece[K, V]]:
        """Returns the entries in pieces, most of which the next map shares."""
        return self._pieces.values()

    def replace(self, changed: Mapping[K, V], gone: Iterable[K] = ()) -> Self:
        """Returns a map that also has the entries of `changed`, and not those with the keys `gone`."""
        new = type(self)()
        pieces = new._pieces = self._pieces.copy()
        size = self._size
        touched: dict[int, Piece[K, V]] = {}
        for key in gone:
            piece = new._own_piece(key, touched)
            if key in piece:
                del piece[key]
                size -= 1
        for key, value in changed.items():
            piece = new._own_piece(key, touched)
            size += key not in piece
            piece[key] = value
        for number, piece in touched.items():
            if not piece:
                del pieces[number]
        new._size = size
        new._put_in_order(number for number, piece in touched.items() if piece)
        return new

    def _own_piece(self, key: K, touched: dict[int, Piece[K, V]]) -> Piece[K, V]:
        """Returns the piece of a key, copied when it is first touched."""
        number = self._number_of(key)
        piece = touched.get(number)
        if piece is None:
            piece = touched[number] = self._pieces[number] = Piece(self._pieces.get(number, ()))
        return piece


class IdMap(_PieceMap[int, V]):
    """By id, in ascending order."""

    __slots__ = ()

    @staticmethod
    def _number_of(key: int) -> int:
        return key >> _ID_BITS

    def _put_in_order(self, touched: Iterable[int]) -> None:
        for number in touched:
            if not _is_in_order(self._pieces[number]):
                self._pieces[number] = Piece(sorted(self._pieces[number].items()))
        if not _is_in_order(self._pieces):
            self._pieces = dict(sorted(self._pieces.items()))


class TextMap(_PieceMap[str, V]):
    """By a text such as a UUID, in no order."""

    __slots__ = ()

    @staticmethod
    def _number_of(key: str) -> int:
        return hash(key) % _TEXT_PIECES


def _is_in_order(ids: Iterable[int]) -> bool:
    keys = list(ids)
    return all(map(int.__lt__, keys, keys[1:]))
