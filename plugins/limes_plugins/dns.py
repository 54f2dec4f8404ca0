"""Usage and quota of a project in Designate.

The quota of recordsets is one for each zone, so the usage is that of the project's largest zone. Zones are listed for
all projects at once and the list is kept for `max_age` seconds; the recordsets of each zone take one request.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from limes import backends
from limes_plugins.openstack import client, reports
from limes_plugins.openstack.params import ConnectionParams, Text

RECORDS_PER_RECORDSET = 20
"""Designate counts single records as well. They get so much, as in the original, that they are never in the way."""

_ZONES = "zones"
_SHOWN = ("id", "name", "status", "type", "pool_id")
"""Of a zone."""
_BILLED = ("type",)
_RESOURCES = (
    reports.Counted(backends.ResourceDef("recordsets"), "zone_recordsets"),
    reports.Counted(backends.ResourceDef(_ZONES), _ZONES),
)


class DnsParams(ConnectionParams):
    """Of a service. A configured `endpoint` ends in `/v2`."""

    area: Text = "dns"
    max_age: backends.SecondsOrZero = Field(default=120, le=3600)
    """For how long the list of zones may be used once it is read; 0 reads it again for each project."""
    page_size: int = Field(default=1000, ge=1)
    with_zone_subresources: bool = False


class DnsService(reports.CountedService):
    """The user of Limes has to be allowed to see all projects."""

    def __init__(self, params: DnsParams, context: backends.BackendContext) -> None:
        everywhere = {"X-Auth-All-Projects": "true"}
        self._client = client.ServiceClient(
            context, params, name="Designate", service_type="dns", major=2, headers=everywhere
        )
        self._page_size = params.page_size
        self._zones = reports.Snapshot(self._list_zones, params.max_age)
        self._with_subresources = params.with_zone_subresources
        super().__init__(context, params.area, _RESOURCES, {_ZONES: _BILLED} if self._with_subresources else {})

    def report_usage(self, project: backends.ProjectInfo) -> backends.UsageReport:
        """One request for quota, one for each zone, and now and then the list of zones."""
        zones = self._zones.get().get(project.id, ())
        counts = self._client.map(self._recordsets, [zone["id"] for zone in zones], self._client.deadline())
        usage = {_ZONES: len(zones), "zone_recordsets": max(counts, default=0)}
        path = f"/quotas/{project.id}"
        limits = self._client.get(path)
        quotas = {key: client.quota_of(limits.get(key), f"GET {path}: the quota of {key}") for key in usage}
        shown: list[Mapping[str, Any]] = []
        if self._with_subresources:
            shown = [{**zone, "recordsets": count} for zone, count in zip(zones, counts, strict=True)]
        return self._report(usage, quotas, {_ZONES: shown})

    def set_quota(self, project: backends.ProjectInfo, quotas: Mapping[str, int]) -> None:
        path = f"/quotas/{project.id}"
        document = {resource.key: quotas[name] for name, resource in self._resources.items()}
        document["zone_records"] = quotas["recordsets"] * RECORDS_PER_RECORDSET
        self._client.patch(path, document)

    def _list_zones(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Returns zones by project id. Designate has no choice of fields; what is not shown is not kept."""
        zones: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for zone in self._client.pages("/zones", "zones", {"limit": self._page_size}):
            if not isinstance(zone.get("id"), str) or not isinstance(zone.get("project_id"), str):
                raise backends.BackendError("GET /zones: an entry has no id or no project_id")
            zones[zone["project_id"]].append({name: zone[name] for name in _SHOWN if zone.get(name) is not None})
        return zones

    def _recordsets(self, zone_id: str) -> int:
        """Returns how many recordsets a zone has; 0 if it was deleted just now."""
        path = f"/zones/{zone_id}/recordsets"
        document = self._client.find(path, {"limit": 1})
        if document is None:
            return 0
        metadata: Any = document.get("metadata")
        total = metadata.get("total_count") if isinstance(metadata, dict) else None
        return client.whole_number(total, f"GET {path}: metadata.total_count")


plugin = backends.Plugin("Zones and recordsets of Designate.", quota=backends.Offer(DnsParams, DnsService))
