"""Figures as text, for what is too much to hold in memory at once: the format (Prometheus' version 0.0.4), and the
families that come neither from single projects nor from capacity.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from math import inf
from typing import Any

import orjson

from limes.catalog.catalog import UNKNOWN_AZ, Catalog, Ref
from limes.db.engine import Engine
from limes.projects.scope import PlacedRow
from limes.quota.constraints import QuotaOverrides
from limes.reports import collector_state as queries
from limes.usage import project_sums
from limes.usage import sums as stored_sums

Samples = Iterable[tuple[str, float]]
"""Pairs of labels, as `labels` gives them, and value."""
Families = Iterator[tuple[str, Samples]]
"""By their names."""

RESOURCE = ("resource", "service")
PROJECT = ("domain", "domain_id", "project", "project_id", *RESOURCE)
_DOMAIN = ("availability_zone", "domain", "domain_id", *RESOURCE)
_CONTAINER = ("domain_id", "project_id", "container_name")
FAMILIES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "limes_domain_usage_per_az": (_DOMAIN, "Usage of a domain's projects by availability zone"),
    "limes_domain_committed_per_az": (
        (*_DOMAIN, "state"),
        "Sum of the commitments of a domain's projects; state is active, pending or planned",
    ),
    "limes_domain_used_and_or_committed_per_az": (
        _DOMAIN,
        "Usage or active commitments of a domain's projects, whichever is larger in each project",
    ),
    "limes_autogrow_growth_multiplier": (
        RESOURCE,
        "How many times the usage a quota is that follows it (growth_multiplier)",
    ),
    "limes_autogrow_quota_overcommit_threshold_percent": (
        RESOURCE,
        "Quota that follows usage may exceed the capacity until this percentage of it is needed; +Inf if it always may",
    ),
    "limes_available_commitment_duration": (
        ("duration", *RESOURCE),
        "1 for each duration that commitments to the resource may have",
    ),
    "limes_project_override_quota_from_config": (PROJECT, "What the file of quota overrides pins a project's quota to"),
    "limes_instance_counts": (("domain_id", "project_id", "hypervisor"), "Servers of a project by type of hypervisor"),
    "limes_nova_hypervisor_is_wellformed": (
        ("hypervisor", "hostname", "aggregate", "az"),
        "1 if a hypervisor that counts as capacity is in a configured availability zone, else 0",
    ),
    "limes_swift_objects_per_container": (_CONTAINER, "Objects in a container"),
    "limes_swift_size_bytes_per_container": (_CONTAINER, "Bytes in a container"),
}
"""The labels and the help of each family."""

_LINES_AT_ONCE = 1000
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def labels(values: Mapping[str, str]) -> str:
    """Returns labels as they stand between the braces, in the given order: `project="shop",service="compute"`."""
    return ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in values.items())


def of_resource(ref: Ref) -> str:
    return labels({"resource": ref[1], "service": ref[0]})


def project_labels(row: PlacedRow) -> str:
    names = {"domain": row.domain_name, "domain_id": row.domain_uuid}
    return labels({**names, "project": row.name, "project_id": row.uuid})


def header(name: str, help_text: str) -> bytes:
    return f"# HELP {name} {help_text}\n# TYPE {name} gauge\n".encode()


def gauge(name: str, help_text: str, samples: Samples) -> Iterator[bytes]:
    yield header(name, help_text)
    lines = (f"{name}{{{inside}}} {value}\n" for inside, value in samples)
    while chunk := "".join(islice(lines, _LINES_AT_ONCE)):
        yield chunk.encode()


# -- what the configuration says about resources -----------------------------------------------------------------------


def configured(catalog: Catalog) -> Families:
    """Yields the families that need no database."""
    growing = [(of_resource(ref), rule) for ref in catalog.refs() if (rule := catalog.autogrow(ref))]
    yield "limes_autogrow_growth_multiplier", ((inside, rule.growth_multiplier) for inside, rule in growing)
    yield (
        "limes_autogrow_quota_overcommit_threshold_percent",
        # rounded, as 0.29 * 100 is not 29
        ((inside, inf if rule.overcommit else round(rule.overcommit_until * 100, 9)) for inside, rule in growing),
    )
    yield (
        "limes_available_commitment_duration",
        (
            (f"{labels({'duration': duration})},{of_resource(ref)}", 1)
            for ref in catalog.refs()
            for duration in dict.fromkeys(catalog.behavior(ref).commitment_durations)
        ),
    )


def overridden(overrides: QuotaOverrides, projects: Mapping[tuple[str, str], str]) -> Samples:
    """Yields the overrides of projects that exist. `projects` are labels by the names of domain and project."""
    for override in overrides.items():
        if project := projects.get((override.domain, override.project)):
            yield f"{project},{of_resource(override.ref)}", override.quota


# -- sums over the projects of each domain -----------------------------------------------------------------------------

STATES = {"confirmed": "active", "pending": "pending", "planned": "planned"}
"""What the label `state` says for each status of commitments."""


def domain_sums(engine: Engine, domains: Mapping[int, str], resources: Mapping[int, str], now: float) -> Families:
    """As many in a cloud with many projects as in one with few. PostgreSQL keeps these sums, so reading them takes
    milliseconds. `domains` and `resources` are labels by id."""

    def inside(domain: int, resource: int, az: str) -> str:
        return f"{labels({'availability_zone': az})},{domains[domain]},{resources[resource]}"

    ids = sorted(resources)
    used = {
        place: total.usage
        for place, total in stored_sums.az_usage_sums(engine, ids, "domain", project_sums.ALL_PROJECTS).items()
    }
    yield "limes_domain_usage_per_az", ((inside(*key), amount) for key, amount in used.items())
    committed: dict[tuple[int, int, str, str], int] = defaultdict(int)
    sums = stored_sums.committed_sums(engine, ids, now, "domain", project_sums.ALL_PROJECTS)
    for (domain, resource, az, status, _), amount in sums.items():
        committed[domain, resource, az, STATES[status]] += amount
    yield (
        "limes_domain_committed_per_az",
        ((f'{inside(*key[:3])},state="{key[3]}"', amount) for key, amount in committed.items()),
    )
    claimed = defaultdict(int, used)
    for place, amount in stored_sums.unused_commitments(engine, ids, now, "domain", project_sums.ALL_PROJECTS).items():
        claimed[place] += amount
    yield "limes_domain_used_and_or_committed_per_az", ((inside(*key), amount) for key, amount in claimed.items())


# -- what plugins list: it is there where the configuration switches subcapacities on ----------------------------------


def hypervisors(engine: Engine) -> Samples:
    """Returns whether each is well-formed. It counts for several resources, but is there once."""
    shown: dict[str, bool] = {}
    for az, text in queries.subcapacities(engine):
        for entry in json_objects(text):
            if "service_host" in entry and "aggregate" in entry:
                host = str(entry["service_host"])
                names = {"hypervisor": host, "hostname": str(entry.get("hypervisor_hostname", host))}
                place = {"aggregate": str(entry["aggregate"]), "az": str(entry.get("az", az))}
                shown[labels({**names, **place})] = az != UNKNOWN_AZ
    return ((inside, int(is_wellformed)) for inside, is_wellformed in sorted(shown.items()))


def json_objects(text: str) -> list[Mapping[str, Any]]:
    return [entry for entry in orjson.loads(text or "[]") if isinstance(entry, dict)]
