"""What Nova knows of its hypervisors: the aggregates and AZs that they are in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from limes.backends import UNKNOWN_AZ, BackendError
from limes_plugins.nova.params import HypervisorSelection
from limes_plugins.openstack.amounts import whole_number
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.host_aggregates import host_aggregates


@dataclass(frozen=True, slots=True)
class Hypervisor:
    """One that counts, as far as its traits are not looked at."""

    uuid: str
    """Also that of its resource provider."""
    name: str
    host: str
    """The name of its service."""
    aggregate: str
    az: str
    instances: int | None
    """How many run on it, if Nova says so."""


def matching(client: ServiceClient, selection: HypervisorSelection, deadline: float) -> list[Hypervisor]:
    """The hypervisors in matching aggregates, by name: a request for aggregates, one for each page of hypervisors.

    Raises `BackendError`, also if one is in two matching aggregates.
    """
    aggregates = host_aggregates(client)
    azs = {host: one.az for one in aggregates if one.az for host in one.hosts}
    chosen = [one for one in aggregates if selection.has_name(one.name)]
    found: list[Hypervisor] = []
    for entry in client.pages("/os-hypervisors/detail", "hypervisors", {"limit": "1000"}, deadline):
        if not selection.has_type(str(entry.get("hypervisor_type"))):
            continue
        name, host = str(entry.get("hypervisor_hostname")), _host(entry)
        names = [one.name for one in chosen if host in one.hosts]
        if len(names) > 1:
            raise BackendError(f"hypervisor {name} is in two aggregates that match: {', '.join(names)}")
        if names:
            running = entry.get("running_vms")
            instances = None if running is None else whole_number(running, f"hypervisor {name}: running_vms")
            found.append(Hypervisor(str(entry.get("id")), name, host, names[0], azs.get(host, UNKNOWN_AZ), instances))
    return sorted(found, key=lambda hypervisor: (hypervisor.name, hypervisor.uuid))


def _host(entry: Mapping[str, Any]) -> str:
    service = entry.get("service")
    if not isinstance(service, dict) or not isinstance(service.get("host"), str):
        raise BackendError(f"GET /os-hypervisors/detail: hypervisor {entry.get('id')} has no service.host")
    return str(service["host"])
