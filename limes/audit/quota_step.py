"""Entries in the history of a quota: which number was changed, from what to what, and why."""

import enum
from dataclasses import dataclass

from limes.catalog.catalog import Ref
from limes.kernel.units import Unit


class What(enum.StrEnum):
    QUOTA = "quota"
    BACKEND_QUOTA = "backend_quota"
    """What the backend enforces was put right, while the quota did not change."""
    BURSTING = "bursting"
    """Of the whole project: 1 for on, 0 for off."""
    MAX_QUOTA = "max_quota"
    MIN_QUOTA = "min_quota"
    """How far quota may grow by itself."""
    FORBID_AUTOGROWTH = "forbid_autogrowth"
    """Whether it may grow by itself beyond what is needed: 1 for not, 0 for yes."""


class Reason(enum.StrEnum):
    """Why it was changed. Limes does all but the first by itself."""

    REQUEST = "request"
    """A user asked for it."""
    AUTO_APPROVAL = "auto-approval"
    """The first scrape found the quota that the backend gives to every new project."""
    CONSTRAINT = "constraint"
    """An operator's constraint demands it."""
    BACKEND_DRIFT = "backend-drift"
    """The backend enforced something else."""
    AUTOGROW = "autogrow"
    """It follows usage and commitments."""
    TEMPORARY_QUOTA = "temporary-quota"
    """A quota for a time has started or ended."""
    DISTRIBUTION_MODEL = "distribution-model"
    """The operator has changed how quota of the resource is distributed."""
    VANISHED = "vanished"
    """The project or domain is gone from Keystone."""


@dataclass(frozen=True, slots=True)
class QuotaStep:
    """A change of one number of one resource, in its unit."""

    ref: Ref
    unit: Unit
    old: int | None
    """None where there was no number before."""
    new: int | None
    """None where there is no number any more."""
    reason: Reason = Reason.REQUEST
    detail: str = ""
    """More about the reason, for people: `exactly 5 GiB`."""
    what: What = What.QUOTA
