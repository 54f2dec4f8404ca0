"""Swift's accounts, by the headers in which Swift speaks of them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from limes.backends import BackendContext, BackendError
from limes_plugins.object_store.params import ObjectStoreParams
from limes_plugins.openstack.client import ServiceClient

_POLICY = re.compile(r"x-account-storage-policy-(.+)-bytes-used", re.IGNORECASE)
_QUOTA = "X-Account-Quota-Bytes"
_OLD_QUOTA = "X-Account-Meta-Quota-Bytes"
"""Older releases know only this one. Newer ones know both, and the new one goes before it."""


@dataclass(frozen=True, slots=True)
class Account:
    """What Swift says of one account."""

    bytes_used: int
    containers: int
    quota_bytes: int | None
    """None where no quota is set."""
    bytes_by_policy: Mapping[str, int]
    """By the policies' names in lower case."""


class Accounts:
    """All accounts of one Swift; the user of Limes has to be a reseller admin."""

    def __init__(self, params: ObjectStoreParams, context: BackendContext) -> None:
        self._prefix = params.account_prefix
        self._client = ServiceClient(context, params, name="Swift", service_type="object-store")

    def find(self, project_id: str) -> Account | None:
        """The account of a project, if there is one. Raises `BackendError`."""
        path = self._path(project_id)
        answer = self._client.request("HEAD", path)
        if answer.status_code == 404:
            return None
        if answer.status_code >= 400:
            raise self._client.refused("HEAD", path, answer)
        headers: Mapping[str, str] = answer.headers
        quota = headers.get(_QUOTA) or headers.get(_OLD_QUOTA)
        policies = {match[1].lower(): value for name, value in headers.items() if (match := _POLICY.fullmatch(name))}
        return Account(
            _number(headers, "X-Account-Bytes-Used"),
            _number(headers, "X-Account-Container-Count"),
            _whole(quota, _QUOTA) if quota else None,
            {policy: _whole(value, policy) for policy, value in policies.items()},
        )

    def set_quota(self, project_id: str, quota: int) -> None:
        """Sets the quota in bytes. Raises `BackendError`."""
        path = self._path(project_id)
        answer = self._client.request("POST", path, headers={_QUOTA: str(quota), _OLD_QUOTA: str(quota)})
        if answer.status_code >= 400:
            raise self._client.refused("POST", path, answer)

    def _path(self, project_id: str) -> str:
        """The account's URL. The catalog's endpoint ends in our own account."""
        account = f"{self._prefix}{project_id}"
        endpoint = self._client.endpoint().rstrip("/")
        base, _, last = endpoint.rpartition("/")
        return f"{base}/{account}" if last.startswith(self._prefix) else f"{endpoint}/{account}"


def _number(headers: Mapping[str, str], name: str) -> int:
    value = headers.get(name)
    if value is None:
        raise BackendError(f"Swift's answer has no header {name} (is there something else behind the endpoint?)")
    return _whole(value, name)


def _whole(value: str, name: str) -> int:
    if not value.isdecimal():
        raise BackendError(f"Swift's header {name} is {value!r}, expected a whole number from 0")
    return int(value)
