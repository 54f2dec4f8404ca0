"""From when to when subresources were there, and with which attributes: what bills are written from.

A period is the time in which a scrape found a subresource in the same AZ with the same billed attributes. What a scrape
finds holds until the next scrape that succeeds: a period begins with the first scrape that finds it, and ends with the
first that does not. Scrapes that fail know nothing, and end nothing.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import orjson
from pydantic import Field

from limes.catalog.catalog import Catalog, Ref
from limes.kernel.validation.sections import Regex, Section

GENERAL_ATTRIBUTES = ("flavor", "size", "type", "usage")
"""What is billed of resources whose backends do not say."""


AttributePath = Annotated[str, Field(min_length=1, max_length=200)]


class LifetimeRule(Section):
    """Resources whose subresources are followed. The first match counts. The plugin has to report subresources: see its
    own settings, such as `with_subresources`."""

    resource: Regex
    """Matches the whole of `service/resource`."""
    attributes: tuple[AttributePath, ...] = ()
    """A change of one of these begins another period; `a.b` is `b` within `a`. Not given: those that the plugin's page
    calls billed, else `flavor`, `size`, `type` and `usage`. Another availability zone always begins another period."""


Followed = Mapping[Ref, tuple[str, ...]]
"""The resources whose subresources are followed, each with the attributes that begin another period."""


def followed_resources(catalog: Catalog, rules: Sequence[LifetimeRule]) -> Followed:
    """Returns what the rules make of the catalog."""
    followed: dict[Ref, tuple[str, ...]] = {}
    for ref in catalog.refs():
        rule = next((rule for rule in rules if rule.resource.fullmatch("/".join(ref))), None)
        resource = catalog.find(ref)
        if rule is not None and resource is not None:
            followed[ref] = rule.attributes or resource.billed_attributes or GENERAL_ATTRIBUTES
    return followed


class Subresource(NamedTuple):
    """Where it is, and what is billed."""

    resource_name: str
    az: str
    id: str
    attributes: str
    """A JSON object of the billed ones that it has. An empty one says nothing but that the subresource is there."""


class Observed(NamedTuple):
    """A subresource, as a scrape found it."""

    what: Subresource
    name: str = ""
    unclear: frozenset[str] = frozenset()
    """Billed attributes that the backend does not know just now."""


class OpenPeriod(NamedTuple):
    """A period that the scrapes have not found the end of."""

    number: int
    what: Subresource
    first_seen_at: float
    began_at: float


class NewPeriod(NamedTuple):
    found: Observed
    first_seen_at: float | None
    """When the subresource was seen first; None: now."""


class Changes(NamedTuple):
    ended: list[int]
    begun: list[NewPeriod]


def identify(resource_name: str, az: str, entry: Mapping[str, Any], attributes: Iterable[str]) -> Observed:
    """Returns an entry of a backend's report. One without id goes by its name. A value of null is one that the backend
    does not know just now; where there is none, the attribute is missing."""
    values = {path: _value(entry, path) for path in attributes}
    shown = {path: value for path, value in values.items() if value is not None and value is not _MISSING}
    document = orjson.dumps(shown, option=orjson.OPT_SORT_KEYS).decode() if shown else _NOTHING
    name = _text(entry.get("name"))
    unclear = frozenset(path for path, value in values.items() if value is None)
    return Observed(Subresource(resource_name, az, _text(entry.get("id")) or name, document), name, unclear)


_NOTHING = "{}"
_MISSING = object()


def _text(value: Any) -> str:
    return "" if value is None else str(value).replace("\0", "")  # which PostgreSQL cannot store


def _value(entry: Mapping[str, Any], path: str) -> Any:
    value = entry.get(path, _MISSING)
    if value is _MISSING and "." in path:
        outer, _, inner = path.partition(".")
        within = entry.get(outer)
        return _value(within, inner) if isinstance(within, Mapping) else _MISSING
    return value


def _may_be(entry: Observed, period: OpenPeriod) -> bool:
    """Returns whether an incomplete entry may continue a period of the same subresource."""
    if entry.what.attributes == _NOTHING:
        return True
    if not entry.unclear or entry.what.az != period.what.az:
        return False
    known = {path: value for path, value in orjson.loads(period.what.attributes).items() if path not in entry.unclear}
    return bool(known == orjson.loads(entry.what.attributes))


def compare(known: Sequence[OpenPeriod], found: Sequence[Observed]) -> Changes:
    """Returns which periods end, and which begin. Several entries may have the same id, such as one for each provider
    that a consumer uses, and even the same attributes: each of them has its own period. What the backend does not know
    just now is no change."""
    remaining: dict[Subresource, deque[OpenPeriod]] = defaultdict(deque)
    for period in known:
        remaining[period.what].append(period)
    unmatched = []
    for entry in found:
        same = remaining.get(entry.what)
        if same:
            same.popleft()
        else:
            unmatched.append(entry)
    left = {period.number: period for periods in remaining.values() for period in periods}
    by_id: dict[tuple[str, str], list[OpenPeriod]] = defaultdict(list)
    for period in left.values():
        by_id[period.what.resource_name, period.what.id].append(period)
    first_seen = {key: min(period.first_seen_at for period in periods) for key, periods in by_id.items()}
    begun = []
    for entry in unmatched:
        key = (entry.what.resource_name, entry.what.id)
        others = by_id[key]
        goes_on = next((period for period in others if _may_be(entry, period)), None)
        if goes_on is not None:
            others.remove(goes_on)
            del left[goes_on.number]
        else:
            begun.append(NewPeriod(entry, first_seen.get(key)))
    return Changes(sorted(left), begun)
