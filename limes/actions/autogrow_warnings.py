"""What whoever sets bounds of growth should know: where they have no effect, or not yet."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from limes.core.autogrow import demand_by_az
from limes.core.catalog import Catalog, Ref
from limes.core.commitments.commitment import Status
from limes.core.overrides import QuotaOverrides
from limes.core.units import Unit
from limes.db.engine import Engine
from limes.db.queries.project_figures import project_azs
from limes.db.queries.project_sums import Among, committed_sums
from limes.db.queries.projects import ProjectRow, these


@dataclass(frozen=True, slots=True)
class Targets:
    """Whose bounds are to be set."""

    domain_id: int
    projects: Mapping[int, ProjectRow]
    """By id."""
    is_domain: bool

    @property
    def ids(self) -> list[int] | None:
        """The ids of the projects; None for all of the domain."""
        return None if self.is_domain else list(self.projects)


@dataclass(frozen=True, slots=True)
class AutogrowWarnings:
    """The texts, with what they rest on. `ids` are those of the resources whose bounds are set, `limits` the amounts
    that quota may grow to, where there are any. Whatever the number of projects, it takes two queries at most."""

    engine: Engine
    catalog: Catalog
    overrides: QuotaOverrides
    now: float

    def of_project(self, targets: Targets, ids: Mapping[Ref, int], limits: Mapping[Ref, int]) -> list[str]:
        """Returns what is to be said to whoever sets bounds of one project."""
        needed = self._needed(targets, {ref: ids[ref] for ref in limits})
        [project] = targets.projects.values()
        texts = []
        for ref, id_ in ids.items():
            name, unit = "/".join(ref), self._unit(ref)
            pinned = self.overrides.for_project(ref, project.domain_name, project.name)
            amount = needed.get((project.id, id_), 0)
            if pinned is not None:
                texts.append(f"{name}: the operator has set this quota to {unit.render(pinned)}, whatever its bounds")
            elif ref in limits and amount > limits[ref]:
                texts.append(
                    f"{name}: usage and commitments need {unit.render(amount)};"
                    f" the limit of {unit.render(limits[ref])} takes effect when they need no more than that"
                )
        return sorted(texts)

    def of_domain(
        self, targets: Targets, ids: Mapping[Ref, int], limits: Mapping[Ref, int], known: Mapping[int, int]
    ) -> list[str]:
        """Returns the same for all projects of a domain. `known` is how many of them have each resource (id)."""
        needed = self._needed(targets, {ref: ids[ref] for ref in limits})
        texts = []
        for ref, id_ in ids.items():
            name = "/".join(ref)
            if missing := len(targets.projects) - known.get(id_, 0):
                texts.append(f"{name}: nothing is set for {_count(missing)} whose usage is not known yet")
            pinned = {row.id for row in targets.projects.values() if self._is_pinned(ref, row)}
            if pinned:
                texts.append(f"{name}: the operator has set the quota of {_count(len(pinned))}, whatever its bounds")
            limit = limits.get(ref)
            beyond = [key for key, amount in needed.items() if limit is not None and key[1] == id_ and amount > limit]
            if limit is not None and (count := sum(project not in pinned for project, _ in beyond)):
                texts.append(
                    f"{name}: usage and commitments need more than {self._unit(ref).render(limit)} in {_count(count)};"
                    " there the limit takes effect when they need no more than that"
                )
        return texts

    def _unit(self, ref: Ref) -> Unit:
        resource = self.catalog.find(ref)
        return resource.unit if resource else Unit.COUNT

    def _is_pinned(self, ref: Ref, project: ProjectRow) -> bool:
        return self.overrides.for_project(ref, project.domain_name, project.name) is not None

    def _needed(self, targets: Targets, ids: Mapping[Ref, int]) -> dict[tuple[int, int], int]:
        """Returns what usage and confirmed commitments need, by project and resource id."""
        if not ids:
            return {}
        resources: Sequence[int] = sorted(ids.values())
        usage: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
        for row in project_azs(self.engine, these(resources), targets.domain_id, targets.ids):
            usage[row.project_id, row.resource_id][row.az] = row.usage
        committed: dict[tuple[int, int], dict[str, int]] = defaultdict(lambda: defaultdict(int))
        among = Among("domain", [targets.domain_id]) if targets.ids is None else Among("project", targets.ids)
        for sums in committed_sums(self.engine, resources, self.now, "project", among):
            if sums.status == Status.CONFIRMED:
                committed[sums.key, sums.resource_id][sums.az] += int(sums.amount)
        pooled = {id_ for ref, id_ in ids.items() if not self.catalog.behavior(ref).commitment_is_az_aware}
        demands = {
            key: demand_by_az(usage.get(key, {}), {}, committed.get(key, {}), is_pooled=key[1] in pooled)
            for key in usage.keys() | committed.keys()
        }
        return {key: sum(demand.needed for demand in by_az.values()) for key, by_az in demands.items()}


def _count(projects: int) -> str:
    return "1 project" if projects == 1 else f"{projects} projects"
