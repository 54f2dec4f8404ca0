"""The context that checks work in."""

import os
from collections.abc import Mapping

from msgspec import Struct, field

from limes.app.settings import Settings
from limes.kernel.findings import Finding, ok, problem, warning
from limes.kernel.system import Clock, SystemClock

_NOTICEABLE = 2.0
"""Seconds."""
_MEND = "have NTP (chrony, systemd-timesyncd) set the clocks of all machines; timedatectl shows this one's"


class Context(Struct, frozen=True):
    settings: Settings
    clock: Clock = field(default_factory=SystemClock)
    timeout: float = 15.0
    """Seconds that each backend, Keystone, and the broker may take."""
    project: str | None = None
    """The UUID of the project that backends are asked about. None: the first that discovery finds."""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def now(self) -> float:
        """Returns seconds since the epoch, by this machine's clock."""
        return self.clock.now().timestamp()


def compare_clocks(check: str, ahead: float, server: str, tolerance: float) -> Finding:
    """Judges how many seconds our clock is `ahead` of another one. Beyond `tolerance`, collectors stop."""
    text = f"this machine's clock is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} {server}"
    if abs(ahead) > tolerance:
        beyond = f"Beyond {tolerance:g} s (collector.max_clock_skew) collectors do not work"
        return problem(check, text, f"{_MEND}. {beyond}")
    if abs(ahead) > _NOTICEABLE:
        return warning(check, text, _MEND)
    return ok(check, f"this machine's clock agrees with {server}")
