"""Quota overrides without the effect that they are meant to have."""

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from limes.core.catalog import Catalog, Ref
from limes.core.overrides import QuotaOverride, QuotaOverrides
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries.needed_quota import needed_quota, projects_by_names
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
        growing = {entry.ref for entry in entries if self.catalog.autogrow(entry.ref) is not None}
        ids = {ref: id_ for ref, id_ in catalog_queries.resource_ids(self.engine).items() if ref in growing}
        now = self.clock.now().timestamp()
        needed = needed_quota(self.engine, projects.values(), ids.values(), now) if projects and ids else {}
        for entry in entries:
            found = self._judge(entry, projects.get((entry.domain, entry.project)), ids, needed)
            if found is not None:
                yield found

    def _judge(
        self,
        entry: QuotaOverride,
        project: int | None,
        resources: Mapping[Ref, int],
        needed: Mapping[tuple[int, int], int],
    ) -> IneffectiveOverride | None:
        if self.catalog.autogrow(entry.ref) is None:
            return IneffectiveOverride(entry, Reason.NOT_AUTOGROW)
        if project is None:
            return IneffectiveOverride(entry, Reason.NO_PROJECT)
        need = needed.get((project, resources.get(entry.ref, 0)), 0)
        return IneffectiveOverride(entry, Reason.BELOW_NEED, need) if need > entry.quota else None
