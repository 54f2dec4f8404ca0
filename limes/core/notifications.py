"""What to tell of alerts: each once, again when it gets worse, and again after it has ended."""

import enum
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
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


REQUEST_OPENED, REQUEST_DECIDED, REQUEST_PASSED_ON, REQUEST_WAITING = (
    "request_opened", "request_decided", "request_passed_on", "request_waiting",
)  # fmt: skip
REQUEST_KINDS = frozenset({REQUEST_OPENED, REQUEST_DECIDED, REQUEST_PASSED_ON, REQUEST_WAITING})
"""They go only to rules that name them: they are for those who decide, or for one person."""
TO_REQUESTER = frozenset({REQUEST_DECIDED, REQUEST_PASSED_ON})
"""They go to the one who asked."""


class Level(enum.StrEnum):
    """What a notification is about."""

    CLOUD = "cloud"
    DOMAIN = "domain"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Place:
    """The project or domain that a notification is about. Neither: it is about the whole cloud."""

    domain_uuid: str = ""
    domain_name: str = ""
    project_uuid: str = ""
    project_name: str = ""

    @property
    def level(self) -> Level:
        if self.project_uuid:
            return Level.PROJECT
        return Level.DOMAIN if self.domain_uuid else Level.CLOUD


@dataclass(frozen=True, slots=True)
class RecipientRule:
    """Who is told of some notifications. All conditions have to hold."""

    addresses: Sequence[str] = ()
    roles_on_project: Sequence[str] = ()
    """Users who have one of these roles on the project."""
    roles_on_domain: Sequence[str] = ()
    """Users who have one of these roles on the domain, or on the project's domain."""
    domain: re.Pattern[str] | None = None
    """Matches the whole name."""
    project: re.Pattern[str] | None = None
    levels: Sequence[Level] = ()
    """Empty: all."""
    kinds: frozenset[str] = frozenset()
    """Empty: all but those about requests."""
    language: str = ""
    """Empty: the domain's, or the default."""

    def matches(self, kind: str, place: Place) -> bool:
        """Returns whether the rule is about such a notification."""
        if kind in self.kinds or (not self.kinds and kind not in REQUEST_KINDS):
            return (
                (not self.levels or place.level in self.levels)
                and _matches(self.domain, place.domain_name)
                and _matches(self.project, place.project_name)
            )
        return False


@dataclass(frozen=True, slots=True)
class LanguageRule:
    """The language of a domain's notifications."""

    domain: re.Pattern[str]
    language: str


def language_of(place: Place, rules: Sequence[LanguageRule], default: str) -> str:
    """Returns the language of the first rule that matches the domain's name."""
    return next((rule.language for rule in rules if _matches(rule.domain, place.domain_name)), default)


def _matches(pattern: re.Pattern[str] | None, name: str) -> bool:
    return pattern is None or (bool(name) and pattern.fullmatch(name) is not None)
