"""Usage and quota of a project's account: one HEAD to read both, one POST to write."""

import math
from collections.abc import Mapping

from limes.backends import (
    ANY_AZ,
    UNLIMITED,
    AZUsage,
    BackendContext,
    BackendError,
    BackendQuota,
    ProjectInfo,
    QuotaBackend,
    ResourceDef,
    ResourceUsage,
    ServiceDef,
    Unit,
    UsageReport,
    convert,
)
from limes_plugins.object_store.account import Account, Accounts
from limes_plugins.object_store.params import ObjectStoreParams

_NO_LIMIT = (2**63 - 1, 2**64 - 1)
"""Quotas in bytes that say that there is none."""


class ObjectStoreService(QuotaBackend):
    """The resources `capacity` and `containers`; Swift has no quota for the latter."""

    def __init__(self, params: ObjectStoreParams, context: BackendContext) -> None:
        self._accounts = Accounts(params, context)
        self._factors = params.physical_factors
        self._bytes = convert(1, params.unit, Unit.BYTES)
        self._service = ServiceDef(
            context.name,
            params.area,
            {
                "capacity": ResourceDef("capacity", params.unit),
                "containers": ResourceDef("containers", tracks_quota=False),
            },
        )

    def describe(self) -> ServiceDef:
        """The two resources."""
        return self._service

    def report_usage(self, project: ProjectInfo) -> UsageReport:
        """One request. A project without an account uses nothing, and may use nothing."""
        account = self._accounts.find(project.id)
        if account is None:
            return _report(AZUsage(0, 0 if self._factors else None), 0, 0)
        capacity = AZUsage(self._in_units(account.bytes_used), self._physical(account))
        limit = account.quota_bytes
        quota = UNLIMITED if limit is None or limit in _NO_LIMIT else limit // self._bytes
        return _report(capacity, quota, account.containers)

    def set_quota(self, project: ProjectInfo, quotas: Mapping[str, int]) -> None:
        """One request, which makes the account if there is none; for a quota of 0 none is made."""
        quota = quotas["capacity"] * self._bytes
        if quota or self._accounts.find(project.id) is not None:
            self._accounts.set_quota(project.id, quota)

    def _in_units(self, amount: int | float) -> int:
        return -(-amount // self._bytes) if isinstance(amount, int) else math.ceil(amount / self._bytes)

    def _physical(self, account: Account) -> int | None:
        if not self._factors:
            return None
        unknown = sorted(set(account.bytes_by_policy) - set(self._factors))
        if unknown:
            raise BackendError(f"params.physical_factors has no storage policy {unknown[0]!r}, but Swift has")
        return self._in_units(sum(used * self._factors[policy] for policy, used in account.bytes_by_policy.items()))


def _report(capacity: AZUsage, quota: BackendQuota, containers: int) -> UsageReport:
    return UsageReport(
        {
            "capacity": ResourceUsage({ANY_AZ: capacity}, quota),
            "containers": ResourceUsage({ANY_AZ: AZUsage(containers)}),
        }
    )
