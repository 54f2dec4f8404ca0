"""How much of their commitments projects use: one project over time; and all of the cluster, a domain or a project, by
resource and AZ, with what ends soon."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from limes.actions.context import Limes
from limes.actions.lookup import find_project
from limes.actions.reports.attention import Where, named_resources, scope_of
from limes.core.catalog import ANY_AZ, Ref
from limes.core.commitments.commitment import Status
from limes.core.commitments.plan import DayOfUse, recommended_amount
from limes.core.commitments.request import az_aware_refs, committable_azs, pooled_refs
from limes.core.quota import is_forbidden
from limes.core.selection import Selection
from limes.core.units import Unit
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import commitment_figures as queries
from limes.db.queries import kept_sums
from limes.db.queries.attention import EVERYWHERE, Scope
from limes.db.queries.project_quotas import project_quotas_by_resource
from limes.db.queries.project_sums import Among
from limes.db.transactions import atomic, snapshot

_DAY = 86400


@dataclass(frozen=True, slots=True)
class Utilisation:
    ref: Ref
    az: str
    unit: Unit
    days: tuple[DayOfUse, ...]
    recommended: int


def date_of(day: int) -> date:
    return date(1970, 1, 1) + timedelta(days=day)


@atomic
def sample_utilisation(limes: Limes) -> None:
    """The job: adds the present figures of all projects to today's, for all resources that allow commitments."""
    now = limes.now()
    today = int(now // _DAY)
    ids = catalog_queries.resource_ids(limes.engine)
    for by_az, refs in ((True, az_aware_refs(limes.catalog)), (False, pooled_refs(limes.catalog))):
        resources = [ids[ref] for ref in refs if ref in ids]
        queries.add_sample(limes.engine, resources, by_az=by_az, day=today, now=now)
    queries.forget_before(limes.engine, today - limes.settings.commitments.use_days)


@snapshot
def report_utilisation(
    limes: Limes, domain_uuid: str, project_uuid: str, selection: Selection, days: int
) -> list[Utilisation]:
    """Returns the last `days` days of a project, by resource and AZ. Raises `NotFound`."""
    today = int(limes.now() // _DAY)
    project = find_project(limes.engine, domain_uuid, project_uuid)
    refs = {id_: ref for ref, id_ in catalog_queries.resource_ids(limes.engine).items()}
    days_by_place = {
        (refs[resource_id], az): {day.day: day for day in found}
        for (resource_id, az), found in queries.of_project(limes.engine, project.id, today - days + 1).items()
    }
    wanted = set(selection.refs)
    rows = project_quotas_by_resource(limes.engine, project.id, refs)
    forbidden = {refs[id_] for id_, row in rows.items() if is_forbidden(row.max_backend_quota)}
    found = []
    for (ref, az), by_day in sorted(days_by_place.items()):
        if ref in wanted:
            # usage in an unknown AZ is shown, but no commitment can cover it
            can_commit = ref not in forbidden and az in committable_azs(limes.catalog.behavior(ref), limes.catalog)
            recommended = recommended_amount(by_day, today) if can_commit else 0
            found.append(Utilisation(ref, az, limes.catalog.unit_of(ref), tuple(by_day.values()), recommended))
    return found


# -- over many projects ------------------------------------------------------------------------------------------------


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
    live = queries.live_sums(engine, scope, list(resources), now, now + days * _DAY)
    used = [
        *queries.use_sums(engine, scope, zoned, now, is_pooled=False),
        *queries.use_sums(engine, scope, pooled, now, is_pooled=True),
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


def _add(
    found: dict[tuple[int, str], ZoneSummary], live: Iterable[queries.LiveSum], used: Iterable[queries.UseSum]
) -> None:
    for each in live:
        summary, status = found[each.resource_id, each.az], Status(each.status)
        summary.amounts[status] = each.amount
        summary.number += each.number
        if status is Status.CONFIRMED:
            summary.expiring = each.expiring
    for row in used:
        summary = found[row.resource_id, row.az]
        summary.used, summary.projects = row.used, row.projects
