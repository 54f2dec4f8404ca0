"""How many members the largest server group of each project has: Nova's quota of members is one for each group.

The list of groups has no links between its pages, and no order that holds while groups come and go. So each page begins
with the last group of the page before; if it does not, the list is read again.
"""

import time
from collections.abc import Mapping
from typing import Any

from limes.backends import BackendError, BackendOutage
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.snapshot import Snapshot

_PATH = "/os-server-groups"
_TRIES = 5


class ServerGroups:
    """The groups of all projects, kept for `max_age` seconds."""

    def __init__(self, client: ServiceClient, *, max_age: float, page_size: int) -> None:
        self._client = client
        self._page_size = page_size
        self._members = Snapshot(self._largest, max_age)

    def largest(self, project_id: str) -> int:
        """Returns the number of members in the project's largest group. Raises `BackendError`."""
        return self._members.get().get(project_id, 0)

    def _largest(self) -> Mapping[str, int]:
        deadline = self._client.deadline()
        for _ in range(_TRIES):
            groups = self._list(deadline)
            if groups is not None:
                break
        else:
            raise BackendError(f"GET {_PATH}: the list changes while it is read, {_TRIES} times in a row")
        largest: dict[str, int] = {}
        for group in groups:
            project_id, members = group.get("project_id"), group.get("members")
            if not isinstance(project_id, str) or not isinstance(members, list):
                raise BackendError(f"GET {_PATH}: group {group.get('id')}: expected a project_id and a list of members")
            largest[project_id] = max(largest.get(project_id, 0), len(members))
        return largest

    def _list(self, deadline: float) -> list[dict[str, Any]] | None:
        """Returns all groups; None if they have changed meanwhile."""
        groups = self._page(0)
        while groups:
            if time.monotonic() > deadline:
                raise BackendOutage(f"GET {_PATH}: the list is too long to be read in time")
            page = self._page(len(groups) - 1)
            if not page or page[0].get("id") != groups[-1].get("id"):
                return None
            if len(page) == 1:
                break
            groups += page[1:]
        return groups

    def _page(self, offset: int) -> list[dict[str, Any]]:
        query = {"all_projects": "true", "limit": str(self._page_size), "offset": str(offset)}
        page = self._client.get(_PATH, query).get("server_groups")
        if not isinstance(page, list) or not all(isinstance(group, dict) for group in page):
            raise BackendError(f"GET {_PATH}: expected a list 'server_groups' of objects")
        return page
