"""Who gets mail about what: rules of the configuration, as a pure function."""

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass

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
