"""What to tell of alerts: each once, again when it gets worse, and again after it has ended."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from limes.core.alerts import Kind

PREFIX = "notify:"
"""Before the names of sinks, which tells notifications from audit events in the outbox."""

Key = tuple[str, str]
"""Kind and subject."""

ALERT_KINDS = (
    Kind.BACKEND_UNREACHABLE,
    Kind.CAPACITY_DROP,
    Kind.USAGE_ABOVE_QUOTA,
    Kind.QUOTA_USED,
    Kind.AUTO_RENEWAL_FAILED,
    Kind.COMMITMENT_UNCONFIRMED,
    Kind.COMMITMENT_EXPIRES,
    Kind.TEMPORARY_QUOTA_OVER,
    Kind.TEMPORARY_QUOTA_WAITS,
    Kind.TEMPORARY_QUOTA_ENDS,
)
"""The kinds of alerts that people are told of. The others are for operators, who have the metrics."""
CONFIRMED, RENEWED = "commitment_confirmed", "commitment_renewed"
"""What people are told of the events of commitments."""
SEVERAL = "several"
"""The kind of a message that has several notifications about one domain."""
TEMPORARY_QUOTA_ENDED = "temporary_quota_ended"
"""All of a temporary quota was given back."""


class Decision(NamedTuple):
    """What to do about what was told so far."""

    told: Mapping[Key, int]
    """To be told now, with the levels."""
    ended: Collection[Key]
    """To be forgotten, so that it will be told again."""


def decide(known: Mapping[Key, int], present: Mapping[Key, int], nearly: Collection[Key]) -> Decision:
    """Compares what was told with what is.

    Levels are by kind and subject; a higher level is worse. `nearly` has all that is there with thresholds that are
    lower by the hysteresis: until then, it has not ended.
    """
    told = {key: level for key, level in present.items() if level > known.get(key, 0)}
    ended = [key for key in known if key not in present and key not in nearly]
    return Decision(told, ended)
