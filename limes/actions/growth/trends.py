"""Computes once a day how usage of each resource has grown in the last months.

Invariant: the trend of a series is computed from closed days only, so that it does not matter which collector does it,
or how often. Several may do it at once.
"""

from collections.abc import Sequence
from functools import partial

from limes.core.forecast import DAY, LOOK_BACK, MIN_DAYS, trend_of
from limes.core.metering.calendar import day_of
from limes.db.engine import Engine
from limes.db.queries import growth_history, growth_samples
from limes.db.queries.growth_history import DayOfSeries, TrendRow

_SERIES = 200
"""Read and written together: their days take about 5 MiB."""


def compute_trends_if_due(engine: Engine, now: int) -> None:
    """Computes all trends, unless that was done since this day has begun."""
    state = engine.snapshot(lambda: growth_samples.state(engine))
    if day_of(state.trends_at) == day_of(now):
        return
    last = 0
    while ids := engine.snapshot(partial(growth_history.series_after, engine, last, _SERIES)):
        _compute(engine, ids, day_of(now))
        last = ids[-1]
    engine.atomic(lambda: growth_samples.note_trends(engine, now))


def _compute(engine: Engine, ids: Sequence[int], today: int) -> None:
    days: dict[int, list[DayOfSeries]] = {id_: [] for id_ in ids}
    for row in engine.snapshot(lambda: growth_history.days_of(engine, ids, today - LOOK_BACK * DAY, today)):
        days[row.series_id].append(row)
    rows = [_trend(id_, today, days[id_]) for id_ in ids]
    engine.atomic(lambda: growth_history.write_trends(engine, rows))


def _trend(id_: int, today: int, days: Sequence[DayOfSeries]) -> TrendRow:
    """Returns the trend of the averages of these days."""
    if len(days) < MIN_DAYS:
        return TrendRow(id_, today, len(days), None, None, None, None)
    trend = trend_of(today, [(row.begins, float(row.usage)) for row in days])
    return TrendRow(id_, today, len(days), *trend[1:])
