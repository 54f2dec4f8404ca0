"""Which alerts to notify of (each once, again when it gets worse, and after it has ended), and who gets mail of it."""

import re
from collections.abc import Collection, Mapping
from typing import Annotated, Literal, NamedTuple

from msgspec import Struct
from pydantic import AfterValidator, model_validator

from limes.kernel.validation.sections import Regex, Section
from limes.notifications.alerts import Kind

PREFIX = "notify:"
"""Prefix of the names of sinks: it distinguishes notifications from audit events in the outbox."""

PROJECTS = "projects"
"""The sink of projects' own webhooks."""

Key = tuple[str, str]
"""Kind and subject."""

ALERT_KINDS = frozenset(Kind) - {Kind.CAPACITY_UNREACHABLE, Kind.SCRAPES_FAIL, Kind.QUOTA_NOT_WRITTEN}
"""The kinds of alerts that are sent. The others are for operators, who have the metrics."""
CONFIRMED, RENEWED = "commitment_confirmed", "commitment_renewed"
"""The notifications about events of commitments."""
SEVERAL = "several"
"""The kind of a message that has several notifications about one domain."""
TEMPORARY_QUOTA_ENDED = "temporary_quota_ended"
OWN_THRESHOLD = "own_threshold"
"""It goes to the user alone who has set the threshold, and only by mail."""


class Decision(NamedTuple):
    """What to notify of, and what to forget."""

    told: Mapping[Key, int]
    ended: Collection[Key]
    """To be forgotten, so that it will be notified again."""


def decide(known: Mapping[Key, int], present: Mapping[Key, int], nearly: Collection[Key]) -> Decision:
    """Compares what was notified with what is. Levels are by kind and subject; a higher level is worse. `nearly` has
    all that is there with thresholds that are lower by the hysteresis: until then, it has not ended."""
    told = {key: level for key, level in present.items() if level > known.get(key, 0)}
    ended = [key for key in known if key not in present and key not in nearly]
    return Decision(told, ended)


# -- mail --------------------------------------------------------------------------------------------------------------

NotificationKind = Literal[
    "backend_unreachable",
    "capacity_drop",
    "usage_above_quota",
    "quota_used",
    "own_threshold",
    "auto_renewal_failed",
    "commitment_unconfirmed",
    "commitment_expires",
    "commitment_confirmed",
    "commitment_renewed",
    "temporary_quota_over",
    "temporary_quota_waits",
    "temporary_quota_ends",
    "temporary_quota_ended",
    "request_proposed",
    "request_confirmed",
    "request_opened",
    "request_decided",
    "request_passed_on",
    "request_waiting",
]
Level = Literal["cloud", "domain", "project"]
REQUEST_PROPOSED, REQUEST_CONFIRMED = "request_proposed", "request_confirmed"
REQUEST_OPENED, REQUEST_DECIDED, REQUEST_PASSED_ON, REQUEST_WAITING = (
    "request_opened", "request_decided", "request_passed_on", "request_waiting",
)  # fmt: skip
TO_REQUESTER = frozenset({REQUEST_CONFIRMED, REQUEST_DECIDED, REQUEST_PASSED_ON})
REQUEST_KINDS = TO_REQUESTER | {REQUEST_PROPOSED, REQUEST_OPENED, REQUEST_WAITING}
"""They go only to rules that name them: they are for those who decide, or for one person."""


class Place(Struct, frozen=True):
    """The project or domain that a notification is about. Neither: it is about the whole cloud."""

    domain_uuid: str = ""
    domain_name: str = ""
    project_uuid: str = ""
    project_name: str = ""

    @property
    def level(self) -> Level:
        if self.project_uuid:
            return "project"
        return "domain" if self.domain_uuid else "cloud"


ADDRESS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")


def _address(value: str) -> str:
    if not ADDRESS.fullmatch(value):
        raise ValueError("expected a mail address, such as somebody@example.com")
    return value


def _language(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", value):
        raise ValueError("expected a language, such as en or pt-BR")
    return value


Address = Annotated[str, AfterValidator(_address)]
Language = Annotated[str, AfterValidator(_language)]


class RecipientRule(Section):
    """Who gets some of the mails. All of the conditions have to hold."""

    addresses: tuple[Address, ...] = ()
    """These addresses, which may be those of mailing lists."""
    roles_on_project: tuple[str, ...] = ()
    """Users with one of these roles on the project, at the address that Keystone has for them."""
    roles_on_domain: tuple[str, ...] = ()
    """Users with one of these roles on the domain, which for a project is that of the project."""
    domain: Regex | None = None
    """Only domains whose whole name matches."""
    project: Regex | None = None
    """Only projects whose whole name matches."""
    levels: tuple[Level, ...] = ()
    """Only notifications about the cloud (such as `backend_unreachable`), about domains, or about projects."""
    kinds: tuple[NotificationKind, ...] = ()
    """Only these kinds. Empty: all but `request_...`, which have to be named. `own_threshold` cannot be named: it goes
    to those who have set a threshold."""
    language: Language | None = None
    """Overrides the language of the domain."""

    @model_validator(mode="after")
    def _names_somebody(self) -> "RecipientRule":
        if not (self.addresses or self.roles_on_project or self.roles_on_domain):
            raise ValueError("expected at least one of addresses, roles_on_project and roles_on_domain")
        if OWN_THRESHOLD in self.kinds:
            raise ValueError(f"{OWN_THRESHOLD} goes to those who have set a threshold, and to nobody else")
        return self

    def matches(self, kind: str, place: Place) -> bool:
        is_wanted = kind in self.kinds if self.kinds else kind not in REQUEST_KINDS
        return (
            is_wanted
            and (not self.levels or place.level in self.levels)
            and _matches(self.domain, place.domain_name)
            and _matches(self.project, place.project_name)
        )


class LanguageRule(Section):
    """The language of mails about some domains and their projects."""

    domain: Regex
    """Matches the whole name."""
    language: Language
    """The name of a folder of templates."""

    def matches(self, place: Place) -> bool:
        return _matches(self.domain, place.domain_name)


def _matches(pattern: re.Pattern[str] | None, name: str) -> bool:
    return pattern is None or (bool(name) and pattern.fullmatch(name) is not None)
