"""The discovery method `list`, also known as `keystone`: domains and projects as Keystone's list calls give them."""

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import Field

from limes import backends

_MAX_PAGES = 10_000


class KeystoneParams(backends.Params):
    interface: str | None = None
    region_name: str | None = None
    endpoint_override: str | None = None
    """Keystone's URL with `/v3`, where that of the catalog is not the right one."""
    page_size: int | None = Field(default=None, ge=1, le=100_000)
    """Entries to ask for at once; without, Keystone's own limit counts."""
    only_enabled: bool = False
    """Leaves out domains and projects that are disabled. Mind: what is left out has vanished for Limes, which deletes
    it with its quota and commitments."""


class KeystoneDiscovery(backends.DiscoveryBackend):
    """Asks Keystone with the configured credentials, which must be allowed to list all domains and projects."""

    def __init__(self, params: KeystoneParams, context: backends.BackendContext) -> None:
        self._params = params
        self._context = context

    def list_domains(self) -> Iterable[backends.DomainInfo]:
        return [backends.DomainInfo(item["id"], item["name"]) for item in self._pages("domains", self._filter())]

    def list_projects(self, domain: backends.DomainInfo) -> Iterable[backends.ProjectInfo]:
        """Projects that act as domains are none."""
        return [
            backends.ProjectInfo(item["id"], item["name"], item.get("parent_id") or domain.id, domain)
            for item in self._pages("projects", {"domain_id": domain.id, **self._filter()})
            if not item.get("is_domain")
        ]

    def _filter(self) -> dict[str, Any]:
        return {"enabled": "true"} if self._params.only_enabled else {}

    def _pages(self, collection: str, params: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yields all entries, page by page along `links.next`. Keystone says `truncated` where it gives up."""
        adapter = self._context.adapter(
            "identity",
            interface=self._params.interface,
            region_name=self._params.region_name,
            endpoint_override=self._params.endpoint_override,
            min_version=(3, 0),
        )
        query = {**params, **({"limit": self._params.page_size} if self._params.page_size else {})}
        url = f"/{collection}"
        for _ in range(_MAX_PAGES):
            document = adapter.get(url, params=query).json()
            yield from document[collection]
            following = (document.get("links") or {}).get("next")
            if not following:
                if document.get("truncated"):
                    raise backends.BackendError(
                        f"Keystone lists only a part of the {collection} (its list_limit is too low)"
                    )
                return
            url, query = following, {}
        raise backends.BackendError(f"Keystone's list of {collection} does not end")


plugin = backends.Plugin(
    "Domains and projects of Keystone.", discovery=backends.Offer(KeystoneParams, KeystoneDiscovery)
)
