"""Capacity as a liquid reports it."""

from collections.abc import Collection, Mapping
from typing import Any

from limes import backends
from limes_plugins.liquid.connection import LiquidCapacityParams, entries_by_az, flat, liquid_client
from limes_plugins.liquid.info import InfoKeeper
from limes_plugins.openstack.answers import whole_number


class LiquidCapacity(backends.CapacityBackend):
    """One liquid."""

    def __init__(self, params: LiquidCapacityParams, context: backends.BackendContext) -> None:
        self._service = params.service
        self._azs = list(context.availability_zones)
        self._client = liquid_client(params, context, params.service)
        self._info = InfoKeeper(self._client, params.info_file)

    def needs_demand(self) -> Collection[backends.Ref]:
        """Returns those for which the liquid asks for it."""
        return [(self._service, name) for name, resource in self._info.get().resources.items() if resource.needs_demand]

    def report_capacity(self) -> backends.CapacityReport:
        """As if nothing was demanded."""
        return self.report_capacity_for(backends.NO_DEMAND)

    def report_capacity_for(self, demand: backends.Demand) -> backends.CapacityReport:
        """One request, for all resources of which the liquid knows the capacity."""
        info = self._info.get()
        by_resource = {name: _demand(demand.get((self._service, name))) for _, name in self.needs_demand()}
        report = self._client.post("/v1/report-capacity", {"allAZs": self._azs, "demandByResource": by_resource})
        self._info.check(report)
        resources = report.get("resources") or {}
        return backends.CapacityReport(
            {
                self._service: {
                    name: _per_az(resources.get(name), f"resource {name}")
                    for name, resource in info.resources.items()
                    if resource.has_capacity
                }
            }
        )

    def resources(self) -> Collection[backends.Ref]:
        """Returns those of which the liquid knows the capacity; it is asked if the `info_file` does not know yet."""
        return [(self._service, name) for name, resource in self._info.get().resources.items() if resource.has_capacity]


def _demand(known: backends.ResourceDemand | None) -> dict[str, Any]:
    """Returns the demand for one resource, in the words of the protocol."""
    demand = known or backends.ResourceDemand()
    return {
        "overcommitFactor": demand.overcommit_factor,
        "perAZ": {
            az: {
                "usage": figures.usage,
                "unusedCommitments": figures.unused_commitments,
                "pendingCommitments": figures.pending_commitments,
            }
            for az, figures in demand.per_az.items()
        },
    }


def _per_az(entry: Any, where: str) -> Mapping[str, backends.AZCapacity]:
    return {
        az: backends.AZCapacity(
            whole_number(figures.get("capacity"), f"{where}, AZ {az}: the capacity"),
            figures.get("usage"),
            tuple(flat(sub) for sub in figures.get("subcapacities") or ()),
        )
        for az, figures in entries_by_az(entry, where).items()
    }
