"""How well a project's commitments fit what it uses, over time."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from limes.actions.commitments.ledger import Ledger
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

_DAY = 86400


@dataclass(frozen=True, slots=True)
class Utilisation:
    """One resource in one AZ."""

    ref: Ref
    az: str
    unit: Unit
    days: tuple[DayOfUse, ...]
    recommended: int


def date_of(day: int) -> date:
    """The date of a day since the epoch."""
    return date(1970, 1, 1) + timedelta(days=day)


@dataclass(frozen=True, slots=True)
class MeasureUtilisation:
    """The use cases: looking at everybody at regular intervals, and reporting about one project."""

    ledger: Ledger
    keep_days: int = 90

    def look(self) -> None:
        """The job: adds the present figures of all projects to those of today, for all resources with commitments."""
        ledger, now = self.ledger, self.ledger.now()
        today = int(now // _DAY)

        def work() -> None:
            ids = catalog_queries.resource_ids(ledger.engine)
            for by_az, refs in ((True, az_aware_refs(ledger.catalog)), (False, pooled_refs(ledger.catalog))):
                resources = [ids[ref] for ref in refs if ref in ids]
                queries.add_sample(ledger.engine, resources, by_az=by_az, day=today, now=now)
            queries.forget_before(ledger.engine, today - self.keep_days)

        ledger.engine.atomic(work)

    def report(self, domain_uuid: str, project_uuid: str, selection: Selection, days: int) -> list[Utilisation]:
        """The last `days` days of a project, by resource and AZ. Raises `NotFound`."""
        ledger = self.ledger
        today = int(ledger.now() // _DAY)

        def read() -> list[Utilisation]:
            project = find_project(ledger.engine, domain_uuid, project_uuid)
            refs = ledger.refs()
            found: dict[tuple[Ref, str], dict[int, DayOfUse]] = defaultdict(dict)
            for row in queries.of_project(ledger.engine, project.id, today - days + 1):
                found[refs[row.resource_id], row.az][row.day.day] = row.day
            wanted = set(selection.refs)
            forbidden = self._forbidden(project.id, refs)
            return [
                self._utilisation(ref, az, by_day, today, can_commit=ref not in forbidden)
                for (ref, az), by_day in sorted(found.items())
                if ref in wanted
            ]

        return ledger.engine.snapshot(read)

    def _forbidden(self, project_id: int, refs: Mapping[int, Ref]) -> set[Ref]:
        """What the backends do not let the project have, so that nothing can be recommended."""
        rows = project_quotas_by_resource(self.ledger.engine, project_id, refs)
        return {refs[id_] for id_, row in rows.items() if is_forbidden(row.max_backend_quota)}

    def _utilisation(
        self, ref: Ref, az: str, by_day: dict[int, DayOfUse], today: int, *, can_commit: bool
    ) -> Utilisation:
        catalog = self.ledger.catalog
        resource = catalog.find(ref)
        unit = resource.unit if resource else Unit.COUNT
        # what is used in an unknown AZ is shown, but a commitment can neither be made there nor cover it from elsewhere
        can_commit = can_commit and az in committable_azs(catalog.behavior(ref), catalog)
        recommended = recommended_amount(by_day, today) if can_commit else 0
        return Utilisation(ref, az, unit, tuple(by_day.values()), recommended)
