"""Requests for more quota: their states, and what a decision makes of them. Pure functions of numbers."""

import enum
from collections.abc import Collection, Iterable, Mapping

from limes.core.catalog import Ref


class RequestStatus(enum.StrEnum):
    """The state of a request. All but `OPEN` are final."""

    OPEN = "open"
    APPROVED = "approved"
    PARTLY_APPROVED = "partly_approved"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"
    """A newer request asks for the same resources, or the decision was made on the level below."""
    EXPIRED = "expired"
    """The time for which it asks has passed, or nobody has decided for very long."""


class EventKind(enum.StrEnum):
    """What an entry in the conversation of a request is about."""

    OPENED = "opened"
    COMMENT = "comment"
    PASSED_ON = "passed_on"
    """To the cloud admins, as the domain's quota is not enough."""
    RETURNED = "returned"
    """They have decided, but that did not settle it."""
    APPROVED = "approved"
    PARTLY_APPROVED = "partly_approved"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"


class Overlap(enum.Enum):
    """How an open request relates to a new one of the same project or domain."""

    NONE = "none"
    REPLACED = "replaced"
    """The new one asks for all of its resources."""
    PARTIAL = "partial"
    """The new one asks for some of them."""


def overlap(open_request: Collection[Ref], new_request: Collection[Ref]) -> Overlap:
    """Returns whether a new request takes the place of an open one, given the resources that each asks for."""
    common = set(open_request) & set(new_request)
    if not common:
        return Overlap.NONE
    return Overlap.REPLACED if common == set(open_request) else Overlap.PARTIAL


def status_after(wanted: Mapping[Ref, int], granted: Mapping[Ref, int]) -> RequestStatus:
    """Returns what a request is when these quotas have been granted."""
    complete = all(granted[ref] >= amount for ref, amount in wanted.items())
    return RequestStatus.APPROVED if complete else RequestStatus.PARTLY_APPROVED


def missing_domain_quota(
    wanted: Mapping[Ref, int], domain: Mapping[Ref, int], others: Mapping[Ref, int]
) -> dict[Ref, int]:
    """Returns the domain quotas that a project needs for its request, where the present ones are not enough.

    `others` is the quota of all other projects in the domain together.
    """
    needed = {ref: others.get(ref, 0) + amount for ref, amount in wanted.items()}
    return {ref: amount for ref, amount in needed.items() if amount > domain.get(ref, 0)}


def names(refs: Iterable[Ref]) -> str:
    """Returns the names of resources, for people."""
    return ", ".join(sorted("/".join(ref) for ref in refs))
