"""What all checks know: the settings, the clock, and how long anybody may take to answer."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from limes.settings import Settings
from limes.system import Clock, SystemClock


@dataclass(frozen=True, slots=True)
class Case:
    """One examination."""

    settings: Settings
    clock: Clock = field(default_factory=SystemClock)
    timeout: float = 15.0
    """Seconds that each backend, Keystone, and the broker may take."""
    project: str | None = None
    """The UUID of the project that backends are asked about. None: the first that discovery finds."""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def now(self) -> float:
        """Seconds since the epoch, by this machine's clock."""
        return self.clock.now().timestamp()
