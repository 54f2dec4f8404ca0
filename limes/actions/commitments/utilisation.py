"""How much of their commitments projects use, over time."""

from dataclasses import dataclass
from datetime import date, timedelta

from limes.actions.context import Limes
from limes.actions.lookup import find_project
from limes.core.catalog import Ref
from limes.core.commitments.request import az_aware_refs, committable_azs, pooled_refs
from limes.core.commitments.utilisation import DayOfUse, recommended_amount
from limes.core.quota import is_forbidden
from limes.core.selection import Selection
from limes.core.units import Unit
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import commitment_use as queries
from limes.db.queries.quotas import project_quotas_by_resource
from limes.db.transactions import atomic, snapshot

_DAY = 86400


@dataclass(frozen=True, slots=True)
class Utilisation:
    """The figures of a project for one resource in one AZ."""

    ref: Ref
    az: str
    unit: Unit
    days: tuple[DayOfUse, ...]
    recommended: int


def date_of(day: int) -> date:
    """Returns the date of a day since the epoch."""
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
