"""Quota: what may be used with bursting, the tag of all quotas, preset sizes, and who may raise or lower a quota, and
how far."""

import hashlib
import re
from collections.abc import Mapping
from fractions import Fraction

import orjson
from msgspec import Struct, field

from limes.catalog.catalog import Ref
from limes.kernel.errors import PreconditionFailed
from limes.kernel.units import MAX_AMOUNT, Unit, UnitError, parse_value


def usable_quota(quota: int, multiplier: float) -> int:
    """Returns the quota with bursting, which is written to the backend: (1 + multiplier) times the quota, rounded down,
    at most the largest amount. Source: the API document, "Quota bursting"."""
    if not multiplier:
        return quota
    # as written in the configuration: in binary floating point 1.1 * 10 would be below 11 for some values
    return min(int((1 + Fraction(str(multiplier))) * quota), MAX_AMOUNT)


def burst_usage(usage: int, quota: int) -> int:
    return max(usage - quota, 0)


def quota_tag(
    quotas: Mapping[Ref, int],
    *,
    bursting: bool | None = None,
    bounds: Mapping[Ref, tuple[int | None, int | None, bool]] | None = None,
) -> str:
    """Returns a short name of all quotas and bursting of a domain or project, by which clients notice a change; usage
    and scrapes do not change it. Of quota that grows by itself, `bounds` count: its largest and smallest value, and
    whether growth is forbidden. `bursting` is None on the level of domains. It is made from the values, and not from a
    counter of changes, so it cannot drift, and a restored database cannot show an old tag for new quotas."""
    values: list[object] = [bursting, *([*ref, quotas[ref]] for ref in sorted(quotas))]
    values += [[*ref, *found] for ref, found in sorted((bounds or {}).items())]
    return hashlib.blake2b(orjson.dumps(values), digest_size=12).hexdigest()


class IfMatch(Struct, frozen=True):
    """The change is only wanted if no other was made meanwhile: quotas and bursting have one of these tags. An
    optimistic lock (`quota_tag`). It is checked under the locks of the change itself, so that of several callers who
    saw the same state only one can win."""

    tags: frozenset[str]

    def check(self, present: str) -> None:
        """Raises `PreconditionFailed` if the present tag is another one. It must not change until the commit."""
        if present not in self.tags:
            raise PreconditionFailed(
                "the quotas have changed since the state that If-Match names."
                " Nothing was changed. GET them again for the present ETag"
            )


class QuotaSet(Struct, frozen=True):
    """One size. Domains and projects have the same ones."""

    name: str
    description: str
    quotas: Mapping[Ref, int]
    """In the units of the resources."""


class Permissions(Struct, frozen=True):
    """What the caller may do to the quota of one resource, as the policy rules of the same names say."""

    can_raise: bool
    can_raise_lowpriv: bool
    can_lower: bool
    can_lower_lowpriv: bool

    @property
    def can_set(self) -> bool:
        return self.can_raise or self.can_raise_lowpriv or self.can_lower or self.can_lower_lowpriv


class LowPrivLimit(Struct, frozen=True):
    """How far the low-privilege permission reaches. Exactly one of the three is set."""

    amount: int | None = None
    """In the resource's unit."""
    percent_of_capacity: float | None = None
    until_percent_assigned: float | None = None
    """Only for domains: until this percentage of the capacity is assigned to domains."""

    @property
    def also_lowers(self) -> bool:
        """Whether it also bounds low-privilege lowering (the "until" form is about raising only)."""
        return self.until_percent_assigned is None

    def evaluate(self, capacity: int, other_domains_quota: int) -> int:
        """Returns the highest quota that the limit allows, given the cluster's capacity (0 where there is none)."""
        if self.amount is not None:
            return self.amount
        if self.percent_of_capacity is not None:
            return int(Fraction(str(self.percent_of_capacity)) * capacity / 100)
        return max(0, int(Fraction(str(self.until_percent_assigned)) * capacity / 100) - other_domains_quota)


NO_LOWPRIV = LowPrivLimit(amount=0)
"""Without a configured limit, the low-privilege permission allows nothing."""


class LowPrivRules(Struct, frozen=True):
    """All configured limits. The patterns match anywhere in a domain's name; `except` wins over `only`."""

    domains: Mapping[Ref, LowPrivLimit] = field(default_factory=dict)
    projects: Mapping[Ref, LowPrivLimit] = field(default_factory=dict)
    except_projects_in_domains: re.Pattern[str] | None = None
    only_projects_in_domains: re.Pattern[str] | None = None

    def for_domain(self, ref: Ref) -> LowPrivLimit:
        return self.domains.get(ref, NO_LOWPRIV)

    def for_project(self, ref: Ref, domain_name: str) -> LowPrivLimit:
        excluded, included = self.except_projects_in_domains, self.only_projects_in_domains
        if (excluded and excluded.search(domain_name)) or (included and not included.search(domain_name)):
            return NO_LOWPRIV
        return self.projects.get(ref, NO_LOWPRIV)


_PERCENT = re.compile(r"([0-9.]+)\s*% of cluster capacity\Z")
_UNTIL = re.compile(r"until\s+([0-9.]+)\s*% of cluster capacity is assigned\Z")


def parse_lowpriv_limit(text: str, unit: Unit, *, for_domains: bool) -> LowPrivLimit:
    """Reads a configured limit: `10`, `10 GiB`, `5% of cluster capacity` or, for domains only,
    `until 80% of cluster capacity is assigned`. Raises `UnitError` saying what is wrong and what would be right.
    """
    text = text.strip()
    if match := _PERCENT.match(text):
        return LowPrivLimit(percent_of_capacity=_percentage(match[1]))
    if match := _UNTIL.match(text):
        if not for_domains:
            raise UnitError(f"{text!r} is allowed for domains only")
        return LowPrivLimit(until_percent_assigned=_percentage(match[1]))
    return LowPrivLimit(amount=parse_value(text, unit))


def _percentage(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise UnitError(f"{text!r} is not a number") from None
    if not 0 <= value <= 100:
        raise UnitError(f"{text}% is not between 0% and 100%")
    return value
