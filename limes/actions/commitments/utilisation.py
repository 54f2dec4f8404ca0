"""How much of their commitments projects use, over time."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from limes.actions.commitments.ledger import LedgerUser
from limes.actions.lookup import find_project
from limes.core.catalog import Ref
from limes.core.commitments.request import az_aware_refs, committable_azs, pooled_refs
from limes.core.commitments.utilisation import DayOfUse, recommended_amount
from limes.core.quota import is_forbidden
from limes.core.selection import Selection
from limes.core.units import Unit
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import commitment_use as queries
from limes.db.queries.project_quotas import project_quotas_by_resource
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


@dataclass(frozen=True, slots=True)
class MeasureUtilisation(LedgerUser):
    """The use cases: a sample of all projects at regular intervals, and a report about one project."""

    keep_days: int = 90

    @atomic
    def take_sample(self) -> None:
        """The job: adds the present figures of all projects to today's, for all resources that allow commitments."""
        ledger, now = self.ledger, self.ledger.now()
        today = int(now // _DAY)
        ids = catalog_queries.resource_ids(ledger.engine)
        for by_az, refs in ((True, az_aware_refs(ledger.catalog)), (False, pooled_refs(ledger.catalog))):
            resources = [ids[ref] for ref in refs if ref in ids]
            queries.add_sample(ledger.engine, resources, by_az=by_az, day=today, now=now)
        queries.forget_before(ledger.engine, today - self.keep_days)

    @snapshot
    def report(self, domain_uuid: str, project_uuid: str, selection: Selection, days: int) -> list[Utilisation]:
        """Returns the last `days` days of a project, by resource and AZ. Raises `NotFound`."""
        ledger = self.ledger
        today = int(ledger.now() // _DAY)
        project = find_project(ledger.engine, domain_uuid, project_uuid)
        refs = {id_: ref for ref, id_ in catalog_queries.resource_ids(ledger.engine).items()}
        days_by_place = {
            (refs[resource_id], az): {day.day: day for day in found}
            for (resource_id, az), found in queries.of_project(ledger.engine, project.id, today - days + 1).items()
        }
        wanted = set(selection.refs)
        forbidden = self._forbidden(project.id, refs)
        return [
            self._utilisation(ref, az, by_day, today, can_commit=ref not in forbidden)
            for (ref, az), by_day in sorted(days_by_place.items())
            if ref in wanted
        ]

    def _forbidden(self, project_id: int, refs: Mapping[int, Ref]) -> set[Ref]:
        """Returns the resources that the backends do not let the project have, so that nothing is recommended."""
        rows = project_quotas_by_resource(self.ledger.engine, project_id, refs)
        return {refs[id_] for id_, row in rows.items() if is_forbidden(row.max_backend_quota)}

    def _utilisation(
        self, ref: Ref, az: str, by_day: dict[int, DayOfUse], today: int, *, can_commit: bool
    ) -> Utilisation:
        catalog = self.ledger.catalog
        resource = catalog.find(ref)
        unit = resource.unit if resource else Unit.COUNT
        # usage in an unknown AZ is shown, but no commitment can cover it
        can_commit = can_commit and az in committable_azs(catalog.behavior(ref), catalog)
        recommended = recommended_amount(by_day, today) if can_commit else 0
        return Utilisation(ref, az, unit, tuple(by_day.values()), recommended)
