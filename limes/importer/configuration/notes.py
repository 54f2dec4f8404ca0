"""What whoever converts a configuration has to know."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Kind(Enum):
    """What became of something."""

    DROPPED = "dropped"
    """It has no counterpart."""
    CHANGED = "changed"
    """It is said in another way here."""
    TO_DO = "to do"
    """Somebody has to decide, or to look it up."""


@dataclass(frozen=True, slots=True)
class Note:
    """`path` is where it is in the file."""

    kind: Kind
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Notes:
    """All of them, in their order."""

    found: list[Note] = field(default_factory=list)

    def dropped(self, path: str, why: str) -> None:
        """It has no counterpart."""
        self.found.append(Note(Kind.DROPPED, path, why))

    def changed(self, path: str, how: str) -> None:
        """It is said in another way here."""
        self.found.append(Note(Kind.CHANGED, path, how))

    def to_do(self, path: str, what: str) -> None:
        """Somebody has to decide, or to look it up."""
        self.found.append(Note(Kind.TO_DO, path, what))

    def keep(self, path: str, section: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
        """The known keys of a section, with their values; a note for each of the others."""
        for key in section:
            if key not in known:
                self.dropped(
                    f"{path}.{key}" if path else str(key), "not known of the original of 2024; nothing reads it here"
                )
        return {key: value for key, value in section.items() if key in known}


def mappings(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """The entries of a list that are mappings, with their positions; others are for the check of the whole."""
    for index, entry in enumerate(value if isinstance(value, list) else ()):
        if isinstance(entry, dict):
            yield index, entry


def mapping(value: Any) -> dict[str, Any]:
    """The value, if it is a mapping."""
    return value if isinstance(value, dict) else {}
