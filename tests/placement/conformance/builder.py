"""Creates through the API what the in-process fixtures of the upstream suite leave behind.

The generations end up as they do there: aggregates are set at 1.18, which leaves the provider's generation alone; one
inventory a call and one list of traits a call count up by 1 each, as does one allocation.
"""

import uuid as uuidlib
from collections.abc import Mapping
from typing import Any

import requests

_HEADERS = {"x-auth-token": "admin", "accept": "application/json"}


class FixtureError(Exception):
    """A call of a fixture failed."""


def new_uuid() -> str:
    """A random UUID."""
    return str(uuidlib.uuid4())


class Builder:
    """Creates entities as the token `admin`. `env` has what the YAML files read as `$ENVIRON[...]`."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.env: dict[str, str] = {}
        self._http = requests.Session()
        self._http.trust_env = False
        self._known: set[str] = set()

    def call(self, method: str, path: str, version: str, body: Any = None) -> requests.Response:
        """One request. Raises `FixtureError` unless it succeeds."""
        headers = _HEADERS | {"openstack-api-version": f"placement {version}"}
        try:
            answer = self._http.request(method, self.url + path, headers=headers, json=body, timeout=30)
        except requests.RequestException as error:
            raise FixtureError(f"{method} {path}: {error}") from error
        if not answer.ok:
            raise FixtureError(f"{method} {path} at {version} -> {answer.status_code} {answer.text[:300]}")
        return answer

    def generation(self, provider: str) -> int:
        """The present generation of a provider."""
        return int(self.call("GET", f"/resource_providers/{provider}", "1.20").json()["generation"])

    def provider(
        self, name: str, *aggregates: str, parent: str | None = None, uuid: str | None = None, env: str | None = None
    ) -> str:
        """A provider, whose UUID also goes into the variable `env`."""
        uuid = uuid or new_uuid()
        body = {"name": name, "uuid": uuid}
        if parent:
            body["parent_provider_uuid"] = parent
        self.call("POST", "/resource_providers", "1.20", body)
        if aggregates:
            self.aggregates(uuid, *aggregates)
        if env:
            self.env[env] = uuid
        return uuid

    def aggregates(self, provider: str, *aggregates: str) -> None:
        """The aggregates of a provider."""
        self.call("PUT", f"/resource_providers/{provider}/aggregates", "1.18", list(aggregates))

    def custom_class(self, name: str) -> None:
        """A resource class, if it is a custom one."""
        if name.startswith("CUSTOM_") and name not in self._known:
            self.call("PUT", f"/resource_classes/{name}", "1.7")
            self._known.add(name)

    def inventory(self, provider: str, name: str, total: int, **more: float) -> None:
        """One inventory. `max_unit` is the total unless `more` says otherwise."""
        self.custom_class(name)
        body = {
            "resource_provider_generation": self.generation(provider),
            "resource_class": name,
            "total": total,
            "reserved": 0,
            "min_unit": 1,
            "max_unit": total,
            "step_size": 1,
            "allocation_ratio": 1.0,
        }
        self.call("POST", f"/resource_providers/{provider}/inventories", "1.20", body | more)

    def traits(self, provider: str, *names: str) -> None:
        """The traits of a provider; custom ones are created."""
        for name in names:
            if name.startswith("CUSTOM_") and name not in self._known:
                self.call("PUT", f"/traits/{name}", "1.6")
                self._known.add(name)
        body = {"resource_provider_generation": self.generation(provider), "traits": list(names)}
        self.call("PUT", f"/resource_providers/{provider}/traits", "1.6", body)

    def allocation(self, provider: str, resources: Mapping[str, int], project: str, user: str) -> str:
        """A new consumer with an allocation, without a type: that came with 1.38."""
        consumer = new_uuid()
        body = {
            "allocations": {provider: {"resources": dict(resources)}},
            "project_id": project,
            "user_id": user,
            "consumer_generation": None,
        }
        self.call("PUT", f"/allocations/{consumer}", "1.28", body)
        return consumer
