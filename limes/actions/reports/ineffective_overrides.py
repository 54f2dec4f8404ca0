"""Quota overrides without the effect that they are meant to have."""

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from limes.actions.compute_quota import autogrow_rule
from limes.core.autogrow import demand_by_az
from limes.core.catalog import Catalog, Ref
from limes.core.overrides import QuotaOverride, QuotaOverrides
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries.autogrow_figures import projects_by_names, read_committed, read_usage
from limes.system import Clock


class Reason(enum.StrEnum):
    """Why an override has no effect, or not the whole one."""

    NO_PROJECT = "no-project"
    """There is no project of that name, or no domain."""
    NOT_AUTOGROW = "not-autogrow"
    """People set the resource's quota."""
    BELOW_NEED = "below-need"
    """The project uses more, or has committed to more: quota stays above the override until it needs less."""


@dataclass(frozen=True, slots=True)
class IneffectiveOverride:
    """An override, and why it is ineffective."""

    override: QuotaOverride
    reason: Reason
    needed: int = 0
    """What the project needs, for `BELOW_NEED`."""


@dataclass(frozen=True, slots=True)
class FindIneffectiveOverrides:
    """The use case. Nothing is written. The number of statements does not depend on the number of overrides."""

    engine: Engine
    catalog: Catalog
    clock: Clock

    def run(self, overrides: QuotaOverrides) -> list[IneffectiveOverride]:
        """Returns those of these overrides that are ineffective, in their order. Asks nobody if there are none."""
        entries = list(overrides.items())
        return self.engine.snapshot(lambda: list(self._find(entries))) if entries else []

    def _find(self, entries: list[QuotaOverride]) -> Iterator[IneffectiveOverride]:
        projects = projects_by_names(self.engine, {(entry.domain, entry.project) for entry in entries})
        growing = {entry.ref for entry in entries if autogrow_rule(self.catalog, entry.ref)}
        ids = {ref: id_ for ref, id_ in catalog_queries.resource_ids(self.engine).items() if ref in growing}
        usage = read_usage(self.engine, projects.values(), ids.values())
        committed = read_committed(self.engine, projects.values(), ids.values(), self.clock.now().timestamp())
        for entry in entries:
            project = projects.get((entry.domain, entry.project))
            if entry.ref not in growing:
                yield IneffectiveOverride(entry, Reason.NOT_AUTOGROW)
            elif project is None:
                yield IneffectiveOverride(entry, Reason.NO_PROJECT)
            elif entry.ref in ids:
                place = (project, ids[entry.ref])
                needed = self._needed(entry.ref, usage.get(place, {}), committed.get(place, {}))
                if needed > entry.quota:
                    yield IneffectiveOverride(entry, Reason.BELOW_NEED, needed)

    def _needed(self, ref: Ref, usage: Mapping[str, int], committed: Mapping[str, int]) -> int:
        is_pooled = not self.catalog.behavior(ref).commitment_is_az_aware
        demand = demand_by_az(usage, {}, committed, is_pooled=is_pooled)
        return sum(each.needed for each in demand.values())
