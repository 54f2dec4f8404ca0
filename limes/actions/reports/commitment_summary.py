"""Commitments of the cluster, a domain or a project by resource and AZ: what is used of them, and what ends soon."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from limes.actions.context import Limes
from limes.actions.reports.attention import Where, named_resources, scope_of
from limes.core.catalog import ANY_AZ, Ref, Selection
from limes.core.commitments.commitment import Status
from limes.core.units import Unit
from limes.db.engine import Engine
from limes.db.queries import kept_sums
from limes.db.queries.attention import EVERYWHERE, Scope
from limes.db.queries.commitment_use import LiveSum, UseSum, live_sums, use_sums
from limes.db.queries.project_sums import Among
from limes.db.transactions import snapshot

_DAY = 86400


@dataclass(slots=True)
class ZoneSummary:
    """One resource in one AZ. Amounts are in the resource's unit."""

    ref: Ref
    unit: Unit
    az: str
    amounts: dict[Status, int] = field(default_factory=dict)
    """By status."""
    number: int = 0
    """How many commitments these are."""
    used: int = 0
    """Of what is confirmed: each project uses its own only."""
    usage: int = 0
    """What all projects use here, with commitments or without: of all AZs together where commitments are for these."""
    projects: int = 0
    """How many projects have confirmed commitments here."""
    expiring: int = 0
    """Of what is confirmed: ends within the days asked about, and was not renewed."""

    @property
    def confirmed(self) -> int:
        """The confirmed amount."""
        return self.amounts.get(Status.CONFIRMED, 0)

    @property
    def coverage(self) -> float | None:
        """Which share of usage is covered by commitments; None if nothing is used."""
        return self.used / self.usage if self.usage else None

    @property
    def waste(self) -> float | None:
        """Which share of the confirmed commitments is not used; None if there are none."""
        return (self.confirmed - self.used) / self.confirmed if self.confirmed else None


@snapshot
def summarize_commitments(limes: Limes, where: Where, selection: Selection, days: int) -> list[ZoneSummary]:
    """Returns what somebody has committed to, by resource and AZ, in the order of reports; what ends within so many
    days is counted as expiring. A fixed number of queries. Raises `NotFound`."""
    engine, catalog, now = limes.engine, limes.catalog, limes.now()
    scope, resources = scope_of(engine, where), named_resources(engine, catalog, selection)
    pooled = [id_ for id_, named in resources.items() if not catalog.behavior(named.ref).commitment_is_az_aware]
    zoned = [id_ for id_ in resources if id_ not in pooled]
    live = live_sums(engine, scope, list(resources), now, now + days * _DAY)
    used = [
        *use_sums(engine, scope, zoned, now, is_pooled=False),
        *use_sums(engine, scope, pooled, now, is_pooled=True),
    ]
    found = {
        (row.resource_id, row.az): ZoneSummary(named.ref, named.unit, row.az)
        for row in live
        if (named := resources.get(row.resource_id)) is not None
    }
    _add(found, live, used)
    usage = _usage(engine, scope, zoned, pooled)
    for key, summary in found.items():
        summary.usage = usage.get(key, 0)
    positions = {id_: position for position, id_ in enumerate(resources)}
    order = sorted(found, key=lambda key: (positions[key[0]], catalog.az_order(key[1])))
    return [found[key] for key in order]


def _usage(engine: Engine, scope: Scope, zoned: Sequence[int], pooled: Sequence[int]) -> dict[tuple[int, str], int]:
    """Returns what is used, by resource and AZ."""
    among = Among("project" if scope.level == "project" else "domain", None if scope == EVERYWHERE else [scope.id])
    in_azs = kept_sums.az_usage_sums(engine, zoned, scope.level, among)
    overall = kept_sums.resource_sums(engine, pooled, scope.level, among)
    usage = {(row.resource_id, row.az): int(row.usage) for row in in_azs}
    return usage | {(row.resource_id, ANY_AZ): int(row.usage) for row in overall}


def _add(found: dict[tuple[int, str], ZoneSummary], live: Iterable[LiveSum], used: Iterable[UseSum]) -> None:
    for each in live:
        summary, status = found[each.resource_id, each.az], Status(each.status)
        summary.amounts[status] = each.amount
        summary.number += each.number
        if status is Status.CONFIRMED:
            summary.expiring = each.expiring
    for row in used:
        summary = found[row.resource_id, row.az]
        summary.used, summary.projects = row.used, row.projects
