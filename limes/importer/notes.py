"""Notes for an operator who converts a configuration."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Kind(Enum):
    """What became of an option."""

    DROPPED = "dropped"
    """It has no counterpart."""
    CHANGED = "changed"
    """It is written in another way here."""
    TO_DO = "to do"
    """The operator has to decide, or to look it up."""


@dataclass(frozen=True, slots=True)
class Note:
    """`path` is the option's place in the file."""

    kind: Kind
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Notes:
    """All notes in order, and the functions that add them."""

    notes: list[Note] = field(default_factory=list)

    def dropped(self, path: str, reason: str) -> None:
        self.notes.append(Note(Kind.DROPPED, path, reason))

    def changed(self, path: str, text: str) -> None:
        self.notes.append(Note(Kind.CHANGED, path, text))

    def to_do(self, path: str, text: str) -> None:
        self.notes.append(Note(Kind.TO_DO, path, text))

    def keep(self, path: str, section: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
        """Returns the known keys of a section, with their values. Each other key is noted as dropped."""
        for key in section:
            if key not in known:
                self.dropped(f"{path}.{key}" if path else str(key), "not known of the original; nothing reads it here")
        return {key: value for key, value in section.items() if key in known}


def mappings(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields the mappings in a list, with their positions. Other entries are left to the check of the document."""
    for index, entry in enumerate(value if isinstance(value, list) else ()):
        if isinstance(entry, dict):
            yield index, entry


def mapping(value: Any) -> dict[str, Any]:
    """Returns the value if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}
