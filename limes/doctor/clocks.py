"""How far a clock may be from ours. Claims, expiry of tokens, and commitments depend on it."""

from limes.doctor.finding import Finding, ok, problem, warning

_NOTICEABLE = 2.0
"""Seconds."""
_MEND = "have NTP (chrony, systemd-timesyncd) set the clocks of all machines; timedatectl shows this one's"


def compare(check: str, ahead: float, whose: str, most: float) -> Finding:
    """The verdict on a clock that ours is `ahead` of (seconds); `most` is where work stops."""
    text = f"this machine's clock is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} {whose}"
    if abs(ahead) > most:
        return problem(check, text, f"{_MEND}. Beyond {most:g} s (collector.max_clock_skew) collectors do not work")
    if abs(ahead) > _NOTICEABLE:
        return warning(check, text, _MEND)
    return ok(check, f"this machine's clock agrees with {whose}")
