"""Backend quota in Keystone's unified limits, against which Nova counts Placement usage.

A registered limit is the default of a service (and region) for one resource; a project limit overrides it for one
project. Without a registered limit there is no project limit, so missing ones are made before the first
write. Keystone makes many limits in one request, and changes them one by one.
"""

import contextlib
from collections.abc import Mapping
from typing import Any

from limes.backends import UNLIMITED, BackendContext, BackendError, BackendQuota
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.params import ConnectionParams, KeystoneLimitParams

_UNLIMITED = -1
_TRIES = 3


class _ConflictError(BackendError):
    """Limits were made or deleted by others at the same time."""


class KeystoneLimits:
    def __init__(self, params: KeystoneLimitParams, names: Mapping[str, str], context: BackendContext) -> None:
        """`names` are the names of limits by resource, where `params` don't say otherwise."""
        self._params = params
        self._client = ServiceClient(context, ConnectionParams(), name="Keystone", service_type="identity", major=3)
        self._service_type = params.service_type or context.name
        self._names = {**names, **params.limit_names}
        self._service_id: str | None = None

    def read(self, project_id: str) -> Mapping[str, BackendQuota]:
        """Returns the project's limits, else the defaults. Without a default the limit is 0: nothing is allowed."""
        limits = self._project_limits(project_id)
        defaults = self._list("registered_limits", {})
        quotas: dict[str, BackendQuota] = {}
        for name, limit_name in self._names.items():
            if limit_name in limits:
                quotas[name] = _quota(limits[limit_name].get("resource_limit"), limit_name)
            else:
                quotas[name] = _quota(defaults.get(limit_name, {}).get("default_limit", 0), limit_name)
        return quotas

    def write(self, project_id: str, quotas: Mapping[str, int]) -> None:
        """Makes what is missing, changes what differs. Starts again if others make limits at the same time."""
        wanted = {self._names[name]: quota for name, quota in quotas.items()}
        for _ in range(_TRIES - 1):
            with contextlib.suppress(_ConflictError):
                self._write(project_id, wanted)
                return
        self._write(project_id, wanted)

    def _write(self, project_id: str, wanted: Mapping[str, int]) -> None:
        if unknown := sorted(set(wanted) - set(self._list("registered_limits", {}))):
            default = self._params.default_limit
            self._create("registered_limits", [{"resource_name": name, "default_limit": default} for name in unknown])
        present = self._project_limits(project_id)
        missing = set(wanted) - set(present)
        for name, limit in present.items():
            if name in wanted and limit.get("resource_limit") != wanted[name] and not self._change(limit, wanted[name]):
                self._send("DELETE", f"/limits/{limit['id']}")
                missing.add(name)
        if missing:
            limits = [{"resource_name": name, "resource_limit": wanted[name]} for name in sorted(missing)]
            self._create("limits", [{**limit, "project_id": project_id} for limit in limits])

    def _change(self, limit: Mapping[str, Any], wanted: int) -> bool:
        """Returns whether the limit has the wanted value now. Keystone answers 200 and keeps the old value where the
        new one is 0 (seen in release 30.0.0, which takes 0 for "not given")."""
        changed = self._client.patch(f"/limits/{limit['id']}", {"limit": {"resource_limit": wanted}}).get("limit")
        return isinstance(changed, dict) and changed.get("resource_limit") == wanted

    def _create(self, collection: str, items: list[dict[str, Any]]) -> None:
        common: dict[str, Any] = {"service_id": self._service()}
        if self._params.region_id is not None:
            common["region_id"] = self._params.region_id
        self._send("POST", f"/{collection}", {collection: [{**common, **item} for item in items]})

    def _send(self, method: str, path: str, document: Mapping[str, Any] | None = None) -> None:
        answer = self._client.request(method, path, json=document)
        if answer.status_code == 409:
            raise _ConflictError(str(self._client.refused(method, path, answer)))
        if answer.status_code >= 400:
            raise self._client.refused(method, path, answer)

    def _project_limits(self, project_id: str) -> dict[str, dict[str, Any]]:
        return self._list("limits", {"project_id": project_id})

    def _list(self, collection: str, query: Mapping[str, str]) -> dict[str, dict[str, Any]]:
        document = self._client.get(f"/{collection}", {"service_id": self._service(), **query})
        if document.get("truncated"):
            raise BackendError(f"Keystone lists only a part of the {collection} (its list_limit is too low)")
        return {
            str(item.get("resource_name")): item
            for item in _objects(document, collection)
            if item.get("region_id") == self._params.region_id
        }

    def _service(self) -> str:
        if self._service_id is None:
            query = {"type": self._service_type}
            if self._params.service_name is not None:
                query["name"] = self._params.service_name
            services = _objects(self._client.get("/services", query), "services")
            if len(services) != 1:
                raise BackendError(
                    f"Keystone's catalog has {len(services)} services of type {self._service_type!r}, expected one"
                    " (see quota.service_type and quota.service_name)"
                )
            self._service_id = services[0]["id"]
        return str(self._service_id)


def _objects(document: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    entries = document.get(key)
    if not isinstance(entries, list) or not all(isinstance(item, dict) for item in entries):
        raise BackendError(f"GET /{key}: expected a list {key!r} of objects from Keystone")
    return entries


def _quota(limit: Any, name: str) -> BackendQuota:
    if limit == _UNLIMITED:
        return UNLIMITED
    if type(limit) is not int or limit < 0:
        raise BackendError(f"Keystone's limit {name} is {limit!r}, expected a whole number from -1")
    return limit
