"""Nova's host aggregates, which say in which AZ a host is."""

from dataclasses import dataclass
from typing import Any

from limes.backends import BackendError
from limes_plugins.openstack.client import ServiceClient


@dataclass(frozen=True, slots=True)
class HostAggregate:
    """One aggregate, as far as it matters here."""

    name: str
    uuid: str
    """Also that of the aggregate in Placement, into which Nova puts the providers of its hosts. Empty if Nova is asked
    below microversion 2.41."""
    az: str
    """Empty if it makes no AZ."""
    hosts: frozenset[str]


def host_aggregates(client: ServiceClient) -> list[HostAggregate]:
    """Returns all of them, by one request. Raises `BackendError`."""
    aggregates = client.get("/os-aggregates").get("aggregates")
    if not isinstance(aggregates, list) or not all(_has_hosts(aggregate) for aggregate in aggregates):
        raise BackendError("GET /os-aggregates: expected a list 'aggregates' of objects with 'hosts'")
    return [
        HostAggregate(
            str(aggregate.get("name")),
            str(aggregate.get("uuid") or ""),
            str(aggregate.get("availability_zone") or ""),
            frozenset(map(str, aggregate["hosts"])),
        )
        for aggregate in aggregates
    ]


def _has_hosts(aggregate: Any) -> bool:
    return isinstance(aggregate, dict) and isinstance(aggregate.get("hosts"), list)
