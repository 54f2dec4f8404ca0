"""The plugin `sharev2`, as capacitor also `manila`: Manila's shares and snapshots. docs/plugins/sharev2.md.

Usage is counted from the lists, because Manila's own counts know no AZs. A scrape takes one request for each share type
and one more, and now and then the lists of all projects. The formulas of capacity are those of the original.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from typing import Annotated, Any

from msgspec import Struct, field
from pydantic import Field, field_validator

from limes import backends
from limes_plugins.openstack import reports
from limes_plugins.openstack.client import ServiceClient, quota_of, whole_number
from limes_plugins.openstack.params import ConnectionParams, Text, once_each


class MappingRule(backends.Params):
    """Another share type for some projects."""

    name_pattern: str
    """A regular expression on the whole of `domain/project`, by names."""
    name: str
    """The share type in Manila. Empty: these projects must not use the type at all."""

    @field_validator("name_pattern")
    @classmethod
    def _is_a_pattern(cls, value: str) -> str:
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(f"is no regular expression: {error}") from None
        return value


class ShareType(backends.Params):
    name: Text
    replication_enabled: bool = False
    """Whether quotas of replicas are set to those of shares."""
    mapping_rules: tuple[MappingRule, ...] = ()
    """The first one that matches counts; without any, Manila knows the type by the same name."""

    def in_manila(self, project: backends.ProjectInfo) -> str:
        """Returns what Manila calls it for this project."""
        full_name = f"{project.domain.name}/{project.name}"
        for rule in self.mapping_rules:
            if re.fullmatch(rule.name_pattern, full_name):
                return rule.name
        return self.name

    @property
    def manila_names(self) -> frozenset[str]:
        """All that it may be called there."""
        return frozenset({self.name, *(rule.name for rule in self.mapping_rules)} - {""})


ShareTypes = Annotated[tuple[ShareType, ...], backends.NOT_EMPTY, once_each("share type")]
"""The resources of the first one have no suffix."""


class ShareParams(ConnectionParams):
    """Of a service. A configured `endpoint` ends in `/v2`."""

    area: Text = "storage"
    share_types: ShareTypes
    max_age: backends.SecondsOrZero = Field(default=120, le=3600)
    """For how long the lists may be used once they are read; 0 reads them again for each project."""
    page_size: int = Field(default=1000, ge=1)
    with_share_subresources: bool = False
    with_snapshot_subresources: bool = False


class ManilaCapacityParams(ConnectionParams):
    service: Text = "sharev2"
    """The service type whose capacity this is."""
    share_types: ShareTypes
    shares_per_pool: int = Field(ge=0)
    snapshots_per_share: int = Field(ge=0)
    capacity_balance: float = Field(ge=0)
    """How much larger the capacity for snapshots is than that for shares."""
    with_subcapacities: bool = False


def manila_client(params: ConnectionParams, context: backends.BackendContext) -> ServiceClient:
    """Returns a client for Manila from 2.39 on, which is the first one with quotas of share types."""
    return ServiceClient(
        context, params, name="Manila", service_type="shared-file-system", major=2, microversion="2.65", at_least="2.39"
    )


KEYS = {
    "shares": "shares",
    "share_capacity": "gigabytes",
    "share_snapshots": "snapshots",
    "snapshot_capacity": "snapshot_gigabytes",
}
"""Manila's names of the quotas of each share type."""
NETWORKS = "share_networks"
_BILLED = ("size", "share_type", "share_proto", "replication_type")
"""The attributes of shares and snapshots that a price may depend on."""

Place = tuple[str, str]
"""Share type and AZ."""


class ShareService(reports.FixedService):
    """Four resources for each share type, and share networks."""

    def __init__(self, params: ShareParams, context: backends.BackendContext) -> None:
        self._client = manila_client(params, context)
        self._types = params.share_types
        switches = {"shares": params.with_share_subresources, "share_snapshots": params.with_snapshot_subresources}
        shown = frozenset(kind for kind, is_on in switches.items() if is_on)
        self._lists = reports.Snapshot(lambda: read_lists(self._client, params.page_size, shown), params.max_age)
        definitions = [
            backends.ResourceDef(
                self._name(kind, type_),
                backends.Unit.GIB if kind.endswith("capacity") else backends.Unit.COUNT,
                category=type_.name,
                az_aware=True,
                billed_attributes=_BILLED if kind in shown else (),
            )
            for type_ in self._types
            for kind in KEYS
        ]
        super().__init__(context, params.area, [*definitions, backends.ResourceDef(NETWORKS)])

    def report_usage(self, project: backends.ProjectInfo) -> backends.UsageReport:
        listed = self._lists.get().get(project.id) or Listed()
        known = {name: type_ for type_ in reversed(self._types) for name in type_.manila_names}
        resources: dict[str, backends.ResourceUsage] = {}
        for type_ in self._types:
            in_manila = type_.in_manila(project)
            limits = self._limits(project, in_manila) if in_manila else dict.fromkeys(KEYS.values(), 0)
            for kind, key in KEYS.items():
                per_az: dict[str, backends.AZUsage] = {}
                for (share_type, az), amount in listed.counts[kind].items():
                    if known.get(share_type, self._types[0]) == type_:
                        part = backends.AZUsage(amount, subresources=tuple(listed.shown[kind, share_type, az]))
                        per_az[az] = backends.add_usage(per_az[az], part) if az in per_az else part
                quota, most = _limit(limits, key, in_manila), None if in_manila else 0
                resources[self._name(kind, type_)] = backends.ResourceUsage(per_az, quota, max_quota=most)
        overall = self._limits(project)
        networks = backends.AZUsage(len(listed.networks))
        resources[NETWORKS] = backends.ResourceUsage({backends.ANY_AZ: networks}, _limit(overall, NETWORKS, ""))
        return backends.UsageReport(resources)

    def set_quota(self, project: backends.ProjectInfo, quotas: Mapping[str, int]) -> None:
        """The sums over all types first, for no type may have more than these; then each type."""
        of_types = {
            type_.name: {key: quotas[self._name(kind, type_)] for kind, key in KEYS.items()} for type_ in self._types
        }
        allowed = [type_ for type_ in self._types if type_.in_manila(project)]
        overall = {key: sum(of_types[type_.name][key] for type_ in allowed) for key in KEYS.values()}
        self._write(project, {**overall, **_replicas(self._types, overall), NETWORKS: quotas[NETWORKS]})
        for type_ in allowed:
            wanted = of_types[type_.name]
            self._write(project, {**wanted, **_replicas([type_], wanted)}, type_.in_manila(project))

    def _limits(self, project: backends.ProjectInfo, share_type: str = "") -> Any:
        query = {"share_type": share_type} if share_type else {}
        quota_sets = self._client.find(f"/quota-sets/{project.id}", query)
        if quota_sets is None:
            raise backends.BackendError(
                f"Manila knows no share type {share_type!r}" if share_type else "Manila has no quota sets"
            )
        return quota_sets.get("quota_set")

    def _write(self, project: backends.ProjectInfo, document: Mapping[str, int], share_type: str = "") -> None:
        query = f"?share_type={share_type}" if share_type else ""
        path = f"/quota-sets/{project.id}{query}"
        self._client.put(path, {"quota_set": document})

    def _name(self, kind: str, share_type: ShareType) -> str:
        return reports.resource_name(kind, share_type.name, is_first=share_type == self._types[0])


def _replicas(types: Any, wanted: Mapping[str, int]) -> dict[str, int]:
    if not any(type_.replication_enabled for type_ in types):
        return {}
    return {"share_replicas": wanted["shares"], "replica_gigabytes": wanted["gigabytes"]}


def _limit(limits: Any, key: str, share_type: str) -> backends.BackendQuota:
    of_type = f" of share type {share_type!r}" if share_type else ""
    if not isinstance(limits, dict) or key not in limits:
        raise backends.BackendError(f"Manila has no quota {key!r}{of_type}")
    return quota_of(limits[key], f"Manila's quota {key!r}{of_type}")


class Listed(Struct, frozen=True):
    counts: Mapping[str, Counter[Place]] = field(default_factory=lambda: {kind: Counter() for kind in KEYS})
    """Numbers, and sizes in GiB, by resource."""
    shown: dict[tuple[str, str, str], list[Mapping[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    """Subresources by resource, share type and AZ."""
    networks: list[str] = field(default_factory=list)
    """Ids of share networks."""

    def add(self, count: str, capacity: str, place: Place, size: int) -> None:
        self.counts[count][place] += 1
        self.counts[capacity][place] += size


def read_lists(client: ServiceClient, page_size: int, shown: Collection[str]) -> Mapping[str, Listed]:
    """Everything, by project id; subresources of the resources in `shown`. Raises `BackendError`."""
    query = {"all_tenants": "1", "limit": page_size}
    listed: dict[str, Listed] = defaultdict(Listed)
    places: dict[str, Place] = {}
    for share in client.offset_pages("/shares/detail", "shares", query):
        place = (str(share.get("share_type_name") or ""), str(share.get("availability_zone") or backends.UNKNOWN_AZ))
        places[_text(share, "id")] = place
        own = listed[_text(share, "project_id")]
        own.add("shares", "share_capacity", place, _size(share))
        if "shares" in shown:
            own.shown["shares", *place].append(_share(share, place))
    for snapshot in client.offset_pages("/snapshots/detail", "snapshots", query):
        # a snapshot is where its share is, and of its type
        place = places.get(_text(snapshot, "share_id"), ("", backends.UNKNOWN_AZ))
        own = listed[_text(snapshot, "project_id")]
        own.add("share_snapshots", "snapshot_capacity", place, _size(snapshot))
        if "share_snapshots" in shown:
            own.shown["share_snapshots", *place].append(
                {**_stored(snapshot, place), "share_id": snapshot.get("share_id")}
            )
    for network in client.offset_pages("/share-networks/detail", "share_networks", query):
        listed[_text(network, "project_id")].networks.append(_text(network, "id"))
    return listed


def _share(entry: Mapping[str, Any], place: Place) -> Mapping[str, Any]:
    own = {"share_proto": entry.get("share_proto"), "replication_type": entry.get("replication_type")}
    shown = {**_stored(entry, place), "availability_zone": place[1], **own}
    return {name: value for name, value in shown.items() if value is not None}


def _stored(entry: Mapping[str, Any], place: Place) -> Mapping[str, Any]:
    return {
        "id": _text(entry, "id"),
        "name": entry.get("name") or "",
        "status": entry.get("status"),
        "size": {"value": _size(entry), "unit": backends.Unit.GIB.value},
        "share_type": place[0],
    }


def _size(entry: Mapping[str, Any]) -> int:
    return whole_number(entry.get("size"), f"the size of {entry.get('id')} in Manila")


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise backends.BackendError(f"an entry of Manila's lists has no {key}")
    return value


class ManilaCapacity(backends.CapacityBackend):
    """One request for each share type, and two for where pools are and how many share networks there are."""

    def __init__(self, params: ManilaCapacityParams, context: backends.BackendContext) -> None:
        self._params = params
        self._client = manila_client(params, context)

    def resources(self) -> Collection[backends.Ref]:
        return [(self._params.service, self._name(kind, type_)) for type_ in self._params.share_types for kind in KEYS]

    def report_capacity(self) -> backends.CapacityReport:
        """Returns sums over pools, which are split between shares and snapshots by `capacity_balance`."""
        zones = reports.zones_of(self._client.get("/services", {"binary": "manila-share"}).get("services") or [])
        query = {"all_tenants": "1", "limit": 1000}
        networks = len(self._client.offset_pages("/share-networks/detail", "share_networks", query))
        resources: dict[str, Mapping[str, backends.AZCapacity]] = {}
        for type_ in self._params.share_types:
            pools = self._pools(type_, zones)
            counted = sum(not pool["exclusion_reason"] for pool in pools)
            by_az: dict[str, list[dict[str, Any]]] = defaultdict(list)
            for pool in pools:
                by_az[pool["az"]].append(pool)
            for kind in KEYS:
                resources[self._name(kind, type_)] = {
                    az: self._of_az(kind, some, networks / counted if counted else 0)
                    for az, some in sorted(by_az.items())
                }
        return backends.CapacityReport({self._params.service: resources})

    def _of_az(self, kind: str, pools: list[dict[str, Any]], networks_per_pool: float) -> backends.AZCapacity:
        counted = [pool for pool in pools if not pool["exclusion_reason"]]
        # each share network takes the place of a share
        shares = max(0, math.floor(len(counted) * (self._params.shares_per_pool - networks_per_pool)))
        if kind == "shares":
            return backends.AZCapacity(shares)
        if kind == "share_snapshots":
            return backends.AZCapacity(shares * self._params.snapshots_per_share)
        balance = self._params.capacity_balance
        part = (1 if kind == "share_capacity" else balance) / (1 + balance)
        shown = [
            pool
            | {"capacity_gib": math.floor(pool["capacity_gib"] * part)}
            | {"usage_gib": math.ceil(pool["usage_gib"] * part)}
            for pool in pools
        ]
        total = math.floor(sum(pool["capacity_gib"] for pool in counted) * part)
        used = math.ceil(sum(pool["usage_gib"] for pool in counted) * part)
        return backends.AZCapacity(total, used, tuple(shown) if self._params.with_subcapacities else ())

    def _pools(self, share_type: ShareType, zones: Mapping[str, str]) -> list[dict[str, Any]]:
        """Returns the pools for shares of a type, as subcapacities; each once, whatever it is called there."""
        pools: dict[str, dict[str, Any]] = {}
        for name in sorted(share_type.manila_names):
            document = self._client.get("/scheduler-stats/pools/detail", {"share_type": name})
            for pool in document.get("pools") or []:
                state = reports.capabilities_of(pool).get("hardware_state")
                shown = reports.subcapacity(pool, zones, "hardware_state", state)
                pools[shown["pool_name"]] = shown
        return [pools[name] for name in sorted(pools)]

    def _name(self, kind: str, share_type: ShareType) -> str:
        return reports.resource_name(kind, share_type.name, is_first=share_type == self._params.share_types[0])


plugin = backends.Plugin(
    "Shares, snapshots and share networks of Manila, by share type.",
    quota=backends.Offer(ShareParams, ShareService),
    capacity=backends.Offer(ManilaCapacityParams, ManilaCapacity),
)
