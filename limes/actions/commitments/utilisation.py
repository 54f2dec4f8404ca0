"""How well a project's commitments fit what it uses, over time."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta

from limes.actions.commitments.ledger import Ledger
from limes.actions.reports.projects import find_project
from limes.core.catalog import Ref
from limes.core.commitment_use import DayOfUse, recommended_amount
from limes.core.selection import Selection
from limes.core.units import Unit
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import commitment_use as queries

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
            for by_az in (True, False):
                resources = [ids[ref] for ref in self._committable(by_az=by_az) if ref in ids]
                queries.add_look(ledger.engine, resources, by_az=by_az, day=today, now=now)
            queries.forget_before(ledger.engine, today - self.keep_days)

        ledger.engine.atomic(work)

    def _committable(self, *, by_az: bool) -> list[Ref]:
        behaviors = ((ref, self.ledger.catalog.behavior(ref)) for ref in self.ledger.catalog.refs())
        return [ref for ref, one in behaviors if one.commitment_durations and one.commitment_is_az_aware is by_az]

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
            return [
                self._utilisation(ref, az, by_day, today)
                for (ref, az), by_day in sorted(found.items())
                if ref in wanted
            ]

        return ledger.engine.snapshot(read)

    def _utilisation(self, ref: Ref, az: str, by_day: dict[int, DayOfUse], today: int) -> Utilisation:
        resource = self.ledger.catalog.find(ref)
        unit = resource.unit if resource else Unit.COUNT
        return Utilisation(ref, az, unit, tuple(by_day.values()), recommended_amount(by_day, today))
