"""Routes beside those of an API, such as the dashboard's pages. They need no token and no database connection."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import falcon


@dataclass(frozen=True, slots=True)
class Mount:
    """Everything below one path."""

    prefix: str
    """Such as `/ui`, without a slash at its end."""
    routes: tuple[tuple[str, Any], ...]
    """Paths, in Falcon's form, and their endpoints."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of each answer below the prefix, errors included."""


class MountMiddleware:
    """Gives answers the headers of their mount."""

    def __init__(self, mounts: Iterable[Mount]) -> None:
        self._headers = [(f"{mount.prefix}/", dict(mount.headers)) for mount in mounts]

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Comes before whatever may refuse the request."""
        for prefix, headers in self._headers:
            if f"{req.path}/".startswith(prefix):
                resp.set_headers(headers)


class PublicPaths(Container[str]):
    """The paths that need no token: some by name, and all of the mounts."""

    def __init__(self, exact: Iterable[str], mounts: Iterable[Mount] = ()) -> None:
        self._exact = frozenset(exact)
        self._prefixes = tuple(f"{mount.prefix}/" for mount in mounts)

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str):
            return False
        return path in self._exact or f"{path}/".startswith(self._prefixes)
