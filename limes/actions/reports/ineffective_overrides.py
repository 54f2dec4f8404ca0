"""Quota overrides without the effect that they are meant to have."""

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from limes.actions.autogrow import autogrow_rule
from limes.actions.context import Limes
from limes.core.autogrow import demand_by_az
from limes.core.constraints import QuotaOverride, QuotaOverrides
from limes.db.queries.autogrow_figures import projects_by_names, read_committed, read_usage
from limes.db.queries.catalog import resource_ids


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


def find_ineffective(limes: Limes, overrides: QuotaOverrides) -> list[IneffectiveOverride]:
    """Returns those of these overrides that are ineffective, in their order. Asks nobody if there are none. The number
    of statements does not depend on the number of overrides."""
    entries = list(overrides.items())
    return limes.engine.snapshot(lambda: list(_find(limes, entries))) if entries else []


def _find(limes: Limes, entries: list[QuotaOverride]) -> Iterator[IneffectiveOverride]:
    projects = projects_by_names(limes.engine, {(entry.domain, entry.project) for entry in entries})
    growing = {entry.ref for entry in entries if autogrow_rule(limes.catalog, entry.ref)}
    ids = {ref: id_ for ref, id_ in resource_ids(limes.engine).items() if ref in growing}
    usage = read_usage(limes.engine, projects.values(), ids.values())
    committed = read_committed(limes.engine, projects.values(), ids.values(), limes.now())
    for entry in entries:
        project = projects.get((entry.domain, entry.project))
        if entry.ref not in growing:
            yield IneffectiveOverride(entry, Reason.NOT_AUTOGROW)
        elif project is None:
            yield IneffectiveOverride(entry, Reason.NO_PROJECT)
        elif entry.ref in ids:
            place = (project, ids[entry.ref])
            is_pooled = not limes.catalog.behavior(entry.ref).commitment_is_az_aware
            demand = demand_by_az(usage.get(place, {}), {}, committed.get(place, {}), is_pooled=is_pooled)
            needed = sum(each.needed for each in demand.values())
            if needed > entry.quota:
                yield IneffectiveOverride(entry, Reason.BELOW_NEED, needed)
