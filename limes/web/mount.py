"""Routes beside those of an API, such as the dashboard's: pages and what belongs to them.

Whoever asks for them needs no token, and they need no database connection.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Mount:
    """Everything below one path."""

    prefix: str
    """Such as `/ui`, without a slash at its end."""
    routes: tuple[tuple[str, Any], ...]
    """Paths, in Falcon's form, and their endpoints."""


class PublicPaths(Container[str]):
    """Which paths need no token: some by name, and all of the mounts."""

    def __init__(self, exact: Iterable[str], mounts: Iterable[Mount] = ()) -> None:
        self._exact = frozenset(exact)
        self._prefixes = tuple(f"{mount.prefix}/" for mount in mounts)

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str):
            return False
        return path in self._exact or f"{path}/".startswith(self._prefixes)
