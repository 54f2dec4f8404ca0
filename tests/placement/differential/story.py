"""What a story is told of: its names, the same for both servers, and its requests."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

_SPACE = UUID("7b3c2a52-1f1b-4a53-9d1f-0d8a3b1d6f00")


@dataclass(frozen=True, slots=True)
class Step:
    """One request."""

    method: str
    path: str
    body: Any = None

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.body}"


class Story:
    """The story of one microversion. `seed` keeps its names apart from those of other stories."""

    def __init__(self, version: int, seed: str) -> None:
        self.version = version
        self._seed = f"{seed}-{version}"
        self.custom_class = f"CUSTOM_C_{seed.upper()}_{version}"
        self.custom_trait = f"CUSTOM_T_{seed.upper()}_{version}"
        self.project = self.uuid("project")

    def uuid(self, name: str) -> str:
        """The UUID of what the story calls by this name."""
        return str(uuid5(_SPACE, f"{self._seed}-{name}"))

    def name(self, name: str) -> str:
        """The provider's name."""
        return f"{name}-{self._seed}"
