"""Closed days and months as they were told at a time: without what was corrected later (docs/adr/0032)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from limes.actions.metering.sources import Sources
from limes.core.metering.calendar import Granularity
from limes.db.queries.usage_corrections import CorrectionRow
from limes.db.queries.usage_sources import Meter, Month, MonthRow, StoredAccount

Stored = Mapping[Meter, Sequence[StoredAccount]]


@dataclass(frozen=True, slots=True)
class Told:
    """What closed days and months said before they were corrected, by meter and beginning."""

    days: Mapping[tuple[Meter, int], CorrectionRow] = field(default_factory=dict)
    months: Mapping[tuple[Meter, int], CorrectionRow] = field(default_factory=dict)

    def sources(self, known: Sources) -> Sources:
        """Returns the sources as they were then, as far as closed days and months are concerned."""
        return replace(known, days=_put_back(known.days, self.days), months=_put_back(known.months, self.months))

    def months_of(self, rows: Sequence[Month]) -> Sequence[Month]:
        """Returns stored months as they were then."""
        return [_month_before(row, self.months) for row in rows] if self.months else rows


NOW = Told()
"""Nothing is put back."""


def told_at(as_of: int, corrections: Iterable[CorrectionRow]) -> Told:
    """Returns what was said at this time, of what these corrections, in their order, have changed later."""
    days: dict[tuple[Meter, int], CorrectionRow] = {}
    months: dict[tuple[Meter, int], CorrectionRow] = {}
    for row in corrections:
        if row.corrected_at > as_of:  # of several, the first one knows what was said until then
            (days if row.granularity == Granularity.DAY else months).setdefault((row.meter, row.begins), row)
    return Told(days, months)


def _put_back(stored: Stored, corrections: Mapping[tuple[Meter, int], CorrectionRow]) -> Stored:
    if not corrections:
        return stored
    return {
        meter: [_before(row, corrections.get((meter, row.begin))) for row in rows] for meter, rows in stored.items()
    }


def _before(row: StoredAccount, correction: CorrectionRow | None) -> StoredAccount:
    return row if correction is None else row._replace(account=correction.account, version=correction.version)


def _month_before(row: Month, corrections: Mapping[tuple[Meter, int], CorrectionRow]) -> Month:
    stored = MonthRow._make(row)
    correction = corrections.get((stored.meter, stored.begin))
    if correction is None:
        return row
    used, committed, beyond, unknown, smallest, largest, last = correction.account
    totals = (str(used), str(committed), str(beyond))
    return MonthRow(*stored.meter, stored.begin, *totals, unknown, smallest, largest, last, correction.version)
