"""Notes when quotas of projects have changed, some projects at a time, so that memory is bounded in any cloud.

Invariant: the row of `growth_state` is locked by whoever notes the quotas of a piece, and one transaction writes all of
it. What has changed is found by comparing what was noted with what there is. So a piece that was not reached, because
the process was killed, is noted by the next run, and of two that do the same piece at once, the second one finds
nothing to note. The time is that of the last sample, whoever took it: so times never go back, unless a sample has
found that the clock did, and has forgotten what was ahead of it.
"""

from dataclasses import dataclass
from functools import partial

from limes.db.engine import Engine
from limes.db.queries import growth_samples, quota_times

_PROJECTS = 250
"""Of one piece. With 50 resources, they take about 10 MiB while the first quotas are noted."""


@dataclass(frozen=True, slots=True)
class NoteQuotas:
    """The use case with what it works with."""

    engine: Engine
    projects: int = _PROJECTS
    """Of one piece."""

    def run(self) -> None:
        """Notes all changes since the last run. A sample was taken before."""
        last: str | None = ""
        while last is not None:
            last = self.engine.atomic(partial(self._note_piece, last))

    def _note_piece(self, after: str) -> str | None:
        """Returns the last project of the piece, None after the last piece."""
        now = growth_samples.lock_state(self.engine).sampled_at
        piece = quota_times.piece_after(self.engine, after, self.projects)
        quota_times.note_changes(self.engine, now, piece)
        return piece.last
