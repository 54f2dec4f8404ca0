"""Computes once a day how usage of each resource has grown in the last months.

Invariant: the trend of a series is computed from closed days only, so that it does not matter which collector does it,
or how often. Several may do it at once.
"""

import logging
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import orjson

from limes.core.forecast import DAY, LOOK_BACK, MIN_DAYS, trend_of
from limes.core.metering.calendar import day_of
from limes.db.engine import Engine
from limes.db.queries import growth_samples, growth_trends
from limes.db.queries.growth_trends import DayOfSeries, TrendRow
from limes.errors import Unavailable

log = logging.getLogger(__name__)

_SERIES = 2000
"""Computed together."""
_TIMEOUT = 240.0
_PROGRAM = (sys.executable, "-P", "-m", "limes.actions.growth.theil_sen")

Points = tuple[list[float], list[float]]
"""Days and amounts."""
Slopes = list[tuple[float, float, float]]
ComputeGrowth = Callable[[Sequence[Points]], Slopes]


def compute_in_child(series: Sequence[Points]) -> Slopes:
    """Runs `theil_sen` as a process of its own. Raises `Unavailable`."""
    try:
        done = subprocess.run(_PROGRAM, input=orjson.dumps(series), capture_output=True, timeout=_TIMEOUT, check=True)  # noqa: S603 - our own program
    except (OSError, subprocess.SubprocessError) as error:
        last = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip().splitlines()
        log.error("trends cannot be computed: %s: %s", error, last[-1] if last else "it said nothing")
        raise Unavailable("trends of usage cannot be computed; see the log") from error
    return [(growth, lowest, highest) for growth, lowest, highest in orjson.loads(done.stdout)]


@dataclass(frozen=True, slots=True)
class ComputeTrends:
    """The use case with what it works with."""

    engine: Engine
    compute_growth: ComputeGrowth = compute_in_child

    def run_if_due(self, now: int) -> None:
        """Computes all trends, unless that was done since this day has begun. Raises `Unavailable`."""
        state = self.engine.snapshot(lambda: growth_samples.state(self.engine))
        if day_of(state.trends_at) == day_of(now):
            return
        last = 0
        while ids := self.engine.snapshot(partial(growth_trends.series_after, self.engine, last, _SERIES)):
            self._compute(ids, now)
            last = ids[-1]
        self.engine.atomic(lambda: growth_samples.note_trends(self.engine, now))

    def _compute(self, ids: Sequence[int], now: int) -> None:
        today = day_of(now)
        begin = today - LOOK_BACK * DAY
        days: dict[int, list[DayOfSeries]] = {}
        for row in self.engine.snapshot(lambda: growth_trends.days_of(self.engine, ids, begin, today)):
            days.setdefault(row.series_id, []).append(row)
        enough = [id_ for id_ in ids if len(days.get(id_, ())) >= MIN_DAYS]
        points = [_points(days[id_], today) for id_ in enough]
        slopes = self.compute_growth(points) if points else []
        found = {id_: (each, slope) for id_, each, slope in zip(enough, points, slopes, strict=True)}
        rows = []
        for id_ in ids:
            count = len(days.get(id_, ()))
            if id_ not in found:
                rows.append(TrendRow(id_, today, count, None, None, None, None))
                continue
            (times, amounts), slope = found[id_]
            trend = trend_of(today, times, amounts, slope)
            rows.append(TrendRow(id_, today, count, trend.level, *slope))
        self.engine.atomic(lambda: growth_trends.write_trends(self.engine, rows))


def _points(days: Sequence[DayOfSeries], today: int) -> Points:
    """Returns the middle of each day, before (so negative) today's beginning, and what was used on average."""
    return [(row.begins - today) / DAY + 0.5 for row in days], [float(row.usage) for row in days]
