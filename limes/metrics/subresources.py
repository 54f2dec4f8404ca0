"""Metrics of what plugins list: servers by hypervisor, containers, and hypervisors; under the names of the original.

They come from the stored subresources and subcapacities, so they exist where the configuration switches those on.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import orjson

from limes.core.catalog import UNKNOWN_AZ
from limes.db.engine import Engine
from limes.db.queries import collector_state as queries
from limes.metrics.text import Samples, labels

_CONTAINER = ("domain_id", "project_id", "container_name")

FAMILIES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "limes_instance_counts": (("domain_id", "project_id", "hypervisor"), "Servers of a project by type of hypervisor"),
    "limes_nova_hypervisor_is_wellformed": (
        ("hypervisor", "hostname", "aggregate", "az"),
        "1 if a hypervisor that counts as capacity is in a configured availability zone, else 0",
    ),
    "limes_swift_objects_per_container": (_CONTAINER, "Objects in a container"),
    "limes_swift_size_bytes_per_container": (_CONTAINER, "Bytes in a container"),
}

LISTED = {"compute": "instances", "object-store": "containers"}
"""By plugin: the resource whose subresources are shown."""


def samples(
    engine: Engine, projects: Mapping[int, str], resources: Mapping[str, Collection[int]]
) -> Iterator[tuple[str, Samples]]:
    """Yields the families about projects. `projects` are labels by id: `domain_id` and `project_id`.

    `resources` are the ids of the listed resources, by plugin."""

    def entries(plugin: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
        if ids := resources.get(plugin):
            for project_id, listed in queries.subresources(engine, sorted(ids)):
                for entry in _objects(listed):
                    yield project_id, entry

    def containers(attribute: str) -> Samples:
        for project_id, entry in entries("object-store"):
            if attribute in entry:
                inside = labels({"container_name": str(entry.get("name"))})
                yield f"{projects[project_id]},{inside}", entry[attribute]

    servers = (
        (project_id, str(entry["hypervisor"])) for project_id, entry in entries("compute") if "hypervisor" in entry
    )
    yield (
        "limes_instance_counts",
        (
            (f"{projects[project_id]},{labels({'hypervisor': hypervisor})}", count)
            for (project_id, hypervisor), count in sorted(Counter(servers).items())
        ),
    )
    yield "limes_swift_objects_per_container", containers("objects")
    yield "limes_swift_size_bytes_per_container", containers("size_bytes")


def hypervisors(engine: Engine) -> Samples:
    """Returns whether each is well-formed. It counts for several resources, but is there once."""
    shown: dict[str, bool] = {}
    for az, listed in queries.subcapacities(engine):
        for entry in _objects(listed):
            if "service_host" in entry and "aggregate" in entry:
                host = str(entry["service_host"])
                names = {"hypervisor": host, "hostname": str(entry.get("hypervisor_hostname", host))}
                place = {"aggregate": str(entry["aggregate"]), "az": str(entry.get("az", az))}
                shown[labels({**names, **place})] = az != UNKNOWN_AZ
    return ((inside, int(is_wellformed)) for inside, is_wellformed in sorted(shown.items()))


def _objects(text: str) -> list[Mapping[str, Any]]:
    document = orjson.loads(text) if text else []
    return [entry for entry in document if isinstance(entry, dict)]
