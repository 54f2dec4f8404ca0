"""Usage and quota of a project's account in Swift. docs/plugins/object-store.md."""

import math
import re
import time
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Struct
from pydantic import Field

from limes import backends
from limes_plugins.openstack import client, reports
from limes_plugins.openstack.params import ConnectionParams, Text

_POLICY = re.compile(r"x-account-storage-policy-(.+)-bytes-used", re.IGNORECASE)
_QUOTA = "X-Account-Quota-Bytes"
_OLD_QUOTA = "X-Account-Meta-Quota-Bytes"
"""Older releases know only this one. Newer ones know both, and prefer the new one."""
_NO_LIMIT = (2**63 - 1, 2**64 - 1)
"""Quotas in bytes that mean that there is none."""


class ObjectStoreParams(ConnectionParams):
    """Of a service. A configured `endpoint` is Swift's without the account, such as `https://swift.example/v1`."""

    area: Text = "storage"
    unit: backends.Unit = backends.Unit.BYTES
    """Of the resource `capacity`. Swift counts bytes: usage is rounded up to the unit, and the quota that Swift has is
    rounded down."""
    account_prefix: str = "AUTH_"
    """The prefix of the project's id in the name of its account: `reseller_prefix` of Swift's keystoneauth."""
    physical_factors: dict[Text, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    """How many bytes on disks one stored byte takes, by storage policy: the number of replicas, or (k + m) / k with
    erasure codes. With it the physical usage is reported; then all policies in use have to be here."""
    with_container_subresources: bool = False


class Account(Struct, frozen=True):
    bytes_used: int
    containers: int
    quota_bytes: int | None
    """None where no quota is set."""
    bytes_by_policy: Mapping[str, int]
    """By the policies' names in lower case."""


class ObjectStoreService(reports.FixedService):
    """Swift has no quota of `containers`. The user of Limes has to be a reseller admin."""

    def __init__(self, params: ObjectStoreParams, context: backends.BackendContext) -> None:
        self._params = params
        self._client = client.ServiceClient(context, params, name="Swift", service_type="object-store")
        self._bytes = backends.convert(1, params.unit, backends.Unit.BYTES)
        containers = backends.ResourceDef("containers", tracks_quota=False)
        super().__init__(context, params.area, (backends.ResourceDef("capacity", params.unit), containers))

    def report_usage(self, project: backends.ProjectInfo) -> backends.UsageReport:
        """One request, and more with subresources. A project without an account uses nothing, and may use nothing."""
        path = self._path(project)
        account = self._find(path)
        if account is None:
            return _report(backends.AZUsage(0, 0 if self._params.physical_factors else None), 0, backends.AZUsage(0))
        capacity = backends.AZUsage(self._in_units(account.bytes_used), self._physical(account))
        limit = account.quota_bytes
        quota = backends.UNLIMITED if limit is None or limit in _NO_LIMIT else limit // self._bytes
        shown = self._containers(path) if self._params.with_container_subresources and account.containers else ()
        return _report(capacity, quota, backends.AZUsage(account.containers, subresources=tuple(shown)))

    def set_quota(self, project: backends.ProjectInfo, quotas: Mapping[str, int]) -> None:
        """One request, which makes the account if there is none; for a quota of 0 none is made."""
        path, quota = self._path(project), quotas["capacity"] * self._bytes
        if quota or self._find(path) is not None:
            answer = self._client.request("POST", path, headers={_QUOTA: str(quota), _OLD_QUOTA: str(quota)})
            if answer.status_code >= 400:
                raise self._client.refused("POST", path, answer)

    def _path(self, project: backends.ProjectInfo) -> str:
        """Returns the account's URL. The catalog's endpoint ends in our own account."""
        account = f"{self._params.account_prefix}{project.id}"
        endpoint = self._client.endpoint().rstrip("/")
        base, _, last = endpoint.rpartition("/")
        return f"{base}/{account}" if last.startswith(self._params.account_prefix) else f"{endpoint}/{account}"

    def _find(self, path: str) -> Account | None:
        answer = self._ask("HEAD", path)
        if answer is None:
            return None
        headers: Mapping[str, str] = answer.headers
        quota = headers.get(_QUOTA) or headers.get(_OLD_QUOTA)
        policies = {match[1].lower(): value for name, value in headers.items() if (match := _POLICY.fullmatch(name))}
        return Account(
            _number(headers, "X-Account-Bytes-Used"),
            _number(headers, "X-Account-Container-Count"),
            _whole_number(quota, _QUOTA) if quota else None,
            {policy: _whole_number(value, policy) for policy, value in policies.items()},
        )

    def _containers(self, path: str) -> list[Mapping[str, Any]]:
        """Returns the containers of an account, by name: a request for each page."""
        deadline = self._client.deadline()
        shown: list[Mapping[str, Any]] = []
        while page := self._page(path, shown[-1]["name"] if shown else ""):
            shown += [_container(path, entry) for entry in page]
            if time.monotonic() > deadline:
                raise backends.BackendError(f"GET {path}: the list of containers has not ended in time")
        return shown

    def _page(self, path: str, after: str) -> list[Any]:
        """Returns what follows this name. Swift says itself how long a page is."""
        answer = self._ask("GET", path, params={"format": "json", "marker": after})
        if answer is None:
            return []
        page = answer.json()
        if not isinstance(page, list):
            raise backends.BackendError(f"GET {path}: expected a list of containers")
        if page and after and isinstance(page[0], dict) and str(page[0].get("name")) <= after:
            raise backends.BackendError(f"GET {path}: Swift lists the same containers again")
        return page

    def _ask(self, method: str, path: str, **options: Any) -> Any:
        """Returns an answer; None if there is no such account."""
        answer = self._client.request(method, path, **options)
        if answer.status_code >= 400 and answer.status_code != 404:
            raise self._client.refused(method, path, answer)
        return None if answer.status_code == 404 else answer

    def _in_units(self, amount: int | float) -> int:
        return -(-amount // self._bytes) if isinstance(amount, int) else math.ceil(amount / self._bytes)

    def _physical(self, account: Account) -> int | None:
        if not self._params.physical_factors:
            return None
        unknown = sorted(set(account.bytes_by_policy) - set(self._params.physical_factors))
        if unknown:
            raise backends.BackendError(f"params.physical_factors has no storage policy {unknown[0]!r}, but Swift has")
        return self._in_units(
            sum(used * self._params.physical_factors[policy] for policy, used in account.bytes_by_policy.items())
        )


def _container(path: str, entry: Any) -> Mapping[str, Any]:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise backends.BackendError(f"GET {path}: an entry is no container with a name")
    where = f"GET {path}: container {entry['name']}"
    return {
        "name": entry["name"],
        "objects": client.whole_number(entry.get("count"), f"{where}: the count"),
        "size_bytes": client.whole_number(entry.get("bytes"), f"{where}: the bytes"),
    }


def _number(headers: Mapping[str, str], name: str) -> int:
    value = headers.get(name)
    if value is None:
        raise backends.BackendError(
            f"Swift's answer has no header {name} (is there something else behind the endpoint?)"
        )
    return _whole_number(value, name)


def _whole_number(value: str, name: str) -> int:
    if not value.isdecimal():
        raise backends.BackendError(f"Swift's header {name} is {value!r}, expected a whole number from 0")
    return int(value)


def _report(
    capacity: backends.AZUsage, quota: backends.BackendQuota, containers: backends.AZUsage
) -> backends.UsageReport:
    own = backends.ResourceUsage({backends.ANY_AZ: capacity}, quota)
    return backends.UsageReport({"capacity": own, "containers": backends.ResourceUsage({backends.ANY_AZ: containers})})


plugin = backends.Plugin(
    "Capacity and containers of Swift accounts.", quota=backends.Offer(ObjectStoreParams, ObjectStoreService)
)
