"""Sums over the projects of each domain as metrics: as many in a cloud with many projects as in one with few.

PostgreSQL keeps these sums, so reading them takes milliseconds.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from limes.db.engine import Engine
from limes.db.queries import kept_sums
from limes.db.queries.project_sums import Among
from limes.metrics.text import Samples, labels

_DOMAIN = ("availability_zone", "domain", "domain_id", "resource", "service")
_ALL = Among("domain", None)
STATES = {"confirmed": "active", "pending": "pending", "planned": "planned"}
"""What the label `state` says for each status of commitments."""

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
}


def samples(
    engine: Engine, domains: Mapping[int, str], resources: Mapping[int, str], now: float
) -> Iterator[tuple[str, Samples]]:
    """Yields all families. `domains` and `resources` are labels by id."""

    def inside(domain: int, resource: int, az: str) -> str:
        return f"{labels({'availability_zone': az})},{domains[domain]},{resources[resource]}"

    ids = sorted(resources)
    used = {
        (row.key, row.resource_id, row.az): row.usage for row in kept_sums.az_usage_sums(engine, ids, "domain", _ALL)
    }
    yield "limes_domain_usage_per_az", ((inside(*key), amount) for key, amount in used.items())
    committed: dict[tuple[int, int, str, str], int] = defaultdict(int)
    for row in kept_sums.committed_sums(engine, ids, now, "domain", _ALL):
        committed[row.key, row.resource_id, row.az, STATES[row.status]] += row.amount
    yield (
        "limes_domain_committed_per_az",
        (
            (f'{inside(domain, resource, az)},state="{state}"', amount)
            for (domain, resource, az, state), amount in committed.items()
        ),
    )
    claimed = defaultdict(int, used)
    for place, amount in kept_sums.unused_commitments(engine, ids, now, "domain", _ALL).items():
        claimed[place] += amount
    yield "limes_domain_used_and_or_committed_per_az", ((inside(*key), amount) for key, amount in claimed.items())
