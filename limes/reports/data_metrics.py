"""Capacity, quota, usage and commitments as metrics, under the names of the original.

They come from one state of the database, so a project that vanishes meanwhile is there with all of its figures or with
none. Memory holds only the names of projects, however many there are.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO

from limes.catalog import queries as catalog_queries
from limes.catalog.catalog import Catalog, Ref
from limes.db.engine import Engine
from limes.db.transactions import snapshot
from limes.kernel import system, units
from limes.projects.queries import domains as domain_rows
from limes.quota.constraints import NO_OVERRIDES, QuotaOverrides
from limes.reports import collector_state as queries
from limes.reports import data_figures as figures
from limes.reports.data_figures import PROJECT, RESOURCE, Families, Samples, gauge, labels, of_resource

_AZ = "availability_zone"

FAMILIES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "limes_cluster_capacity": (RESOURCE, "Capacity, with overcommit; 0 if it is unknown"),
    "limes_cluster_capacity_per_az": ((_AZ, *RESOURCE), "Capacity by availability zone, with overcommit"),
    "limes_cluster_usage_per_az": ((_AZ, *RESOURCE), "Usage of the capacity, as reported by backends"),
    "limes_domain_quota": (
        ("domain", "domain_id", *RESOURCE),
        "Quota of a domain; the sum of its projects' where it follows usage",
    ),
    "limes_project_quota": (PROJECT, "Quota of a project"),
    "limes_project_backendquota": (PROJECT, "Quota that the backend enforces for a project; -1 if it enforces none"),
    "limes_project_usage": (PROJECT, "Usage of a project"),
    "limes_project_physical_usage": (PROJECT, "Physical usage of a project, where it is known"),
    "limes_project_usage_per_az": ((_AZ, *PROJECT), "Usage of a project by availability zone"),
    "limes_project_committed_per_az": (
        (_AZ, *PROJECT, "state"),
        "Sum of a project's commitments; state is active, pending or planned",
    ),
    "limes_project_used_and_or_committed_per_az": (
        (_AZ, *PROJECT),
        "Usage or active commitments of a project, whichever is larger",
    ),
    "limes_project_commitment_min_expires_at": (
        PROJECT,
        "When the first of a project's commitments ends, in seconds since the epoch",
    ),
    "limes_unit_multiplier": (RESOURCE, "Bytes in one unit of the resource; 1 for counted ones"),
    **figures.FAMILIES,
}
"""The labels and the help of each family."""

_COLUMNS: dict[str, queries.ProjectColumn] = {
    "limes_project_quota": "quota",
    "limes_project_backendquota": "backend_quota",
    "limes_project_usage": "usage",
    "limes_project_physical_usage": "physical_usage",
}


@dataclass(frozen=True, slots=True)
class DataMetrics:
    """Renders them. `skip_zero` leaves out figures of projects that are 0."""

    engine: Engine
    catalog: Catalog
    skip_zero: bool = False
    overrides: Callable[[], QuotaOverrides] = lambda: NO_OVERRIDES
    plugins: Mapping[str, str] = field(default_factory=dict)
    """The plugin of each service, by service type."""
    of_projects: bool = True
    """Whether there are figures of single projects."""
    clock: system.Clock = field(default_factory=system.SystemClock)

    @snapshot
    def write(self, file: IO[bytes]) -> None:
        """Writes all families in the text format. If it raises `Unavailable`, it may have written some."""
        for name, samples in self._families(_Snapshot(self.engine, self.catalog)):
            for chunk in gauge(name, FAMILIES[name][1], samples):
                file.write(chunk)

    def _families(self, state: "_Snapshot") -> Families:
        yield from state.cluster()
        yield "limes_domain_quota", state.domain_quotas()
        yield from state.domains(self.clock.now().timestamp())
        yield from figures.configured(self.catalog)
        yield "limes_nova_hypervisor_is_wellformed", figures.hypervisors(self.engine)
        if self.of_projects:
            yield from self._of_projects(state)

    def _of_projects(self, state: "_Snapshot") -> Families:
        for name, column in _COLUMNS.items():
            yield name, self._nonzero(state.of_projects(column))
        yield "limes_project_usage_per_az", self._nonzero(state.usage_per_az())
        yield "limes_project_committed_per_az", state.committed_per_az()
        yield "limes_project_used_and_or_committed_per_az", self._nonzero(state.used_or_committed_per_az())
        yield "limes_project_commitment_min_expires_at", state.first_ends()
        yield "limes_project_override_quota_from_config", state.overridden(self.overrides())
        yield from state.listed(self.plugins)

    def _nonzero(self, samples: Samples) -> Samples:
        return (sample for sample in samples if sample[1]) if self.skip_zero else samples


class _Snapshot:
    """One state of the database, with the labels of its resources and projects."""

    def __init__(self, engine: Engine, catalog: Catalog) -> None:
        self._engine = engine
        self._catalog = catalog
        self._refs = {id_: ref for ref, id_ in catalog_queries.resource_ids(engine).items() if catalog.find(ref)}
        self._resources = {id_: of_resource(ref) for id_, ref in self._refs.items()}
        self._names = queries.projects(engine)
        self._projects = {}
        for id_, row in self._names.items():
            names = {"domain": row.domain_name, "domain_id": row.domain_uuid}
            self._projects[id_] = labels({**names, "project": row.name, "project_id": row.uuid})

    @cached_property
    def _committed(self) -> dict[tuple[int, int, str, str], tuple[int, float]]:
        return {key: row for key, row in queries.committed(self._engine).items() if key[1] in self._refs}

    def cluster(self) -> Families:
        rows = [row for row in queries.capacities(self._engine) if row.resource_id in self._refs]
        raw: dict[Ref, list[int]] = {ref: [] for ref in self._catalog.refs()}
        overcommit = {ref: self._catalog.behavior(ref).overcommit_factor for ref in raw}
        for row in rows:
            raw[self._refs[row.resource_id]].append(row.raw_capacity)
        yield (
            "limes_cluster_capacity",
            ((of_resource(ref), units.effective_total(amounts, overcommit[ref])) for ref, amounts in raw.items()),
        )
        yield (
            "limes_cluster_capacity_per_az",
            (
                (self._in_az(row), units.effective_capacity(row.raw_capacity, overcommit[self._refs[row.resource_id]]))
                for row in rows
            ),
        )
        yield "limes_cluster_usage_per_az", ((self._in_az(row), row.usage) for row in rows if row.usage is not None)
        resources = ((ref, self._catalog.find(ref)) for ref in raw)
        yield "limes_unit_multiplier", ((of_resource(ref), one.unit.multiplier if one else 1) for ref, one in resources)

    def domain_quotas(self) -> Samples:
        """Returns quota of all domains: where it follows usage, the sum of their projects'."""
        growing = {id_ for id_, ref in self._refs.items() if self._catalog.autogrow(ref)}
        own = (row for row in queries.domain_quotas(self._engine) if row.resource_id not in growing)
        sums = queries.domain_quota_sums(self._engine, growing)
        for uuid, name, resource_id, quota in (*own, *sums):
            if resource_id in self._refs:
                yield f"{labels({'domain': name, 'domain_id': uuid})},{self._resources[resource_id]}", quota

    def domains(self, now: float) -> Families:
        names = {row.id: labels({"domain": row.name, "domain_id": row.uuid}) for row in domain_rows(self._engine)}
        return figures.domain_sums(self._engine, names, self._resources, now)

    def of_projects(self, column: queries.ProjectColumn) -> Samples:
        for project_id, resource_id, value in queries.project_figures(self._engine, column):
            if resource_id in self._refs:
                yield f"{self._projects[project_id]},{self._resources[resource_id]}", value

    def usage_per_az(self) -> Samples:
        for project_id, resource_id, az, value in queries.project_az_usage(self._engine):
            if resource_id in self._refs:
                yield self._of_project_in_az(az, project_id, resource_id), value

    def committed_per_az(self) -> Samples:
        for (project_id, resource_id, az, status), (amount, _) in self._committed.items():
            inside = self._of_project_in_az(az, project_id, resource_id)
            yield f'{inside},state="{figures.STATES[status]}"', amount

    def used_or_committed_per_az(self) -> Samples:
        """Returns what projects claim of each AZ's capacity."""
        active = {
            (project_id, resource_id, az): amount
            for (project_id, resource_id, az, status), (amount, _) in self._committed.items()
            if status == "confirmed"
        }
        for project_id, resource_id, az, usage in queries.project_az_usage(self._engine):
            if resource_id in self._refs:
                amount = max(usage, active.pop((project_id, resource_id, az), 0))
                yield self._of_project_in_az(az, project_id, resource_id), amount
        for (project_id, resource_id, az), amount in active.items():
            yield self._of_project_in_az(az, project_id, resource_id), amount

    def first_ends(self) -> Samples:
        ends: dict[tuple[int, int], float] = {}
        for (project_id, resource_id, *_), (_, end) in self._committed.items():
            ends[project_id, resource_id] = min(end, ends.get((project_id, resource_id), end))
        for (project_id, resource_id), end in ends.items():
            yield f"{self._projects[project_id]},{self._resources[resource_id]}", end

    def overridden(self, overrides: QuotaOverrides) -> Samples:
        if not overrides:
            return ()
        names = {(row.domain_name, row.name): self._projects[id_] for id_, row in self._names.items()}
        return figures.overridden(overrides, names)

    def listed(self, plugins: Mapping[str, str]) -> Families:
        projects = {
            id_: labels({"domain_id": row.domain_uuid, "project_id": row.uuid}) for id_, row in self._names.items()
        }
        resources: dict[str, list[int]] = defaultdict(list)
        for id_, (service, name) in self._refs.items():
            plugin = plugins.get(service, "")
            if figures.LISTED.get(plugin) == name:
                resources[plugin].append(id_)
        return figures.listed(self._engine, projects, resources)

    def _in_az(self, row: queries.CapacityFigure) -> str:
        return f"{labels({_AZ: row.az})},{self._resources[row.resource_id]}"

    def _of_project_in_az(self, az: str, project_id: int, resource_id: int) -> str:
        return f"{labels({_AZ: az})},{self._projects[project_id]},{self._resources[resource_id]}"
