"""Capacity, quota, usage and commitments as metrics, under the names of the original.

They come from one state of the database, so a project that vanishes meanwhile is there with all of its figures or with
none. Figures of single projects are most of them: see `limes.reports.project_figures`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct, field

from limes.catalog import queries as catalog_queries
from limes.catalog.catalog import Catalog, Ref
from limes.db.engine import Engine
from limes.db.transactions import snapshot
from limes.kernel import system, units
from limes.projects.queries import domains as domain_rows
from limes.quota.constraints import NO_OVERRIDES, QuotaOverrides
from limes.reports import collector_state as queries
from limes.reports import data_figures as figures
from limes.reports import project_figures
from limes.reports.data_figures import (
    PROJECT,
    RESOURCE,
    Families,
    Samples,
    gauge,
    header,
    labels,
    of_resource,
    project_labels,
)
from limes.reports.project_figures import ProjectFigures, Scope
from limes.web.packed import Block, PackedText, pack

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


class DataMetrics(Struct, frozen=True):
    """Renders them."""

    engine: Engine
    catalog: Catalog
    projects: ProjectFigures | None = field(default_factory=ProjectFigures)
    """None leaves out the figures of single projects."""
    overrides: Callable[[], QuotaOverrides] = lambda: NO_OVERRIDES
    plugins: Mapping[str, str] = field(default_factory=dict)
    """The plugin of each service, by service type."""
    clock: system.Clock = field(default_factory=system.SystemClock)

    @snapshot
    def read(self) -> PackedText:
        """Returns all families in the text format. Raises `Unavailable`. One thread at a time."""
        return PackedText(self._blocks(_Snapshot(self.engine, self.catalog)))

    def _blocks(self, state: "_Snapshot") -> Iterator[Block]:
        for name, samples in self._families(state):
            yield from map(pack, gauge(name, FAMILIES[name][1], samples))
        if self.projects is not None:
            blocks = self.projects.read(self.engine, state.scope(self.plugins))
            for name in project_figures.FAMILIES:
                yield pack(header(name, FAMILIES[name][1]))
                yield from blocks[name]

    def _families(self, state: "_Snapshot") -> Families:
        yield from state.cluster()
        yield "limes_domain_quota", state.domain_quotas()
        yield from state.domains(self.clock.now().timestamp())
        yield from figures.configured(self.catalog)
        yield "limes_nova_hypervisor_is_wellformed", figures.hypervisors(self.engine)
        if self.projects is not None:
            yield "limes_project_override_quota_from_config", state.overridden(self.overrides())


class _Snapshot:
    """One state of the database, with the labels of its resources and projects."""

    def __init__(self, engine: Engine, catalog: Catalog) -> None:
        self._engine = engine
        self._catalog = catalog
        self._refs = {id_: ref for ref, id_ in catalog_queries.resource_ids(engine).items() if catalog.find(ref)}
        self._resources = {id_: of_resource(ref) for id_, ref in self._refs.items()}
        self._projects = queries.projects(engine)

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

    def overridden(self, overrides: QuotaOverrides) -> Samples:
        if not overrides:
            return ()
        names = {(row.domain_name, row.name): project_labels(row) for row in self._projects.values()}
        return figures.overridden(overrides, names)

    def scope(self, plugins: Mapping[str, str]) -> Scope:
        """Returns what is shown of single projects."""
        listed: dict[str, list[int]] = defaultdict(list)
        for id_, (service, name) in sorted(self._refs.items()):
            plugin = plugins.get(service, "")
            if project_figures.LISTED.get(plugin) == name:
                listed[plugin].append(id_)
        return Scope(self._projects, self._resources, listed["compute"], listed["object-store"])

    def _in_az(self, row: queries.CapacityFigure) -> str:
        return f"{labels({_AZ: row.az})},{self._resources[row.resource_id]}"
