"""`GET /allocation_candidates`: from the parameters of the query to a `CandidatesRequest`, for every microversion.

The schema has already checked which keys exist at which microversion. Checked here is what a schema cannot say, in the
order and with the words that Placement's clients know.
"""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from limes.placement.search import model, values
from limes.placement.search.values import BAD_VALUE, DUPLICATE_KEY, MISSING_VALUE, Pairs, QueryError, invalid, values_of

NESTED_SINCE = 29
RESOURCELESS_SINCE = 36

_LIMIT = re.compile(r"[1-9][0-9]*\Z")
_KEY = re.compile(r"(resources|required|member_of|in_tree)([a-zA-Z0-9_-]{1,64})?\Z")


class Bounds(Struct, frozen=True):
    """How much one query may ask for. More is refused with 400, so that no query can be made expensive."""

    groups: int = 64
    classes: int = 64
    """resource classes in one group"""
    traits: int = 512
    """traits in the whole query, `root_required` included"""
    aggregates: int = 1024
    """aggregates in the whole query"""


DEFAULT_BOUNDS = Bounds()


class Group(Struct, frozen=True):
    """One request group. The one with the empty suffix may be spread over a tree; any other is one provider's."""

    suffix: str = ""
    resources: Mapping[str, int] = field(default_factory=dict)
    traits: values.Traits = field(default_factory=values.Traits)
    aggregates: values.Aggregates = field(default_factory=values.Aggregates)
    in_tree: str | None = None


class CandidatesRequest(Struct, frozen=True):
    """A whole query. `groups` has each suffix once, the unsuffixed group first if there is one."""

    groups: tuple[Group, ...]
    isolate: bool = False
    limit: int | None = None
    root_traits: values.Traits = field(default_factory=values.Traits)
    same_subtrees: tuple[frozenset[str], ...] = ()
    """Sets of suffixes whose providers have to lie in one subtree, with one of them at its top."""
    nested: bool = True
    """False below 1.29: then one candidate never takes two providers of one tree."""


def parse(pairs: Pairs, minor: int, cloud: model.Cloud, bounds: Bounds = DEFAULT_BOUNDS) -> CandidatesRequest:
    """Reads the parameters at microversion 1.`minor`, given the names that exist in the cloud. Raises `QueryError`."""
    same_subtrees = _same_subtrees(pairs)
    root_traits = _root_traits(pairs, minor)
    groups = _groups(pairs, minor)
    check_bounds(groups, root_traits, bounds)
    if minor >= RESOURCELESS_SINCE:
        _check_resourceless(groups, same_subtrees)
    else:
        _check_orphans(groups, pairs)
    _check_conflicts(groups)
    isolate = _isolate(pairs, groups)
    values.check_names(root_traits, cloud.traits)
    for group in groups:
        values.check_classes(group.resources, cloud.classes)
        values.check_names(group.traits, cloud.traits)
    return CandidatesRequest(
        groups=tuple(groups),
        isolate=isolate,
        limit=_limit(pairs),
        root_traits=root_traits,
        same_subtrees=tuple(names for names in same_subtrees if len(names) > 1),
        nested=minor >= NESTED_SINCE,
    )


def _limit(pairs: Pairs) -> int | None:
    texts = values_of(pairs, "limit")
    if not texts:
        return None
    # the first value counts, but the schema has checked the last
    if not _LIMIT.match(texts[0]):
        raise invalid(f"{texts[0]!r} does not match '^[1-9][0-9]*$'")
    return int(texts[0][:18])


def _groups(pairs: Pairs, minor: int) -> list[Group]:
    texts: dict[str, dict[str, list[str]]] = {}
    for key, value in pairs:
        matched = _KEY.match(key)
        if matched:
            texts.setdefault(matched[2] or "", {}).setdefault(matched[1], []).append(value)
    groups = []
    for suffix, of_group in texts.items():
        # of a repeated parameter all values have to be well-formed, and the last counts
        resources = [values.parse_resources(text) for text in of_group.get("resources", ())]
        trees = [values.parse_in_tree(text) for text in of_group.get("in_tree", ())]
        traits = values.parse_traits(of_group.get("required", []), minor)
        aggregates = values.parse_aggregates(of_group.get("member_of", []), minor)
        in_tree = trees[-1] if trees else None
        groups.append(Group(suffix, resources[-1] if resources else {}, traits, aggregates, in_tree))
    return sorted(groups, key=lambda group: group.suffix != "")


def _root_traits(pairs: Pairs, minor: int) -> values.Traits:
    texts = values_of(pairs, "root_required")
    if len(texts) > 1:
        raise QueryError("Query parameter 'root_required' may be specified only once.", DUPLICATE_KEY)
    # root_required does not support "in:"
    traits = values.parse_traits(texts, min(minor, values.ANY_TRAITS_SINCE - 1))
    conflicts = traits.conflicts()
    if conflicts:
        raise QueryError(
            f"Conflicting required and forbidden traits found in root_required: {', '.join(conflicts)}", BAD_VALUE
        )
    return traits


def _same_subtrees(pairs: Pairs) -> list[frozenset[str]]:
    subtrees = []
    for text in values_of(pairs, "same_subtree"):
        suffixes = [suffix.strip() for suffix in text.split(",")]
        if "" in suffixes:
            raise QueryError("Empty string (unsuffixed group) can not be specified in `same_subtree` ", BAD_VALUE)
        subtrees.append(frozenset(suffixes))
    return subtrees


def check_bounds(groups: list[Group], root_traits: values.Traits, bounds: Bounds) -> None:
    """Raises `QueryError` naming the bound if a query asks for too much."""
    traits = sum(1 for of_group in (*(group.traits for group in groups), root_traits) for _ in of_group.names())
    aggregates = sum(len(group.aggregates.forbidden) + sum(map(len, group.aggregates.member_of)) for group in groups)
    most_classes = max((len(group.resources) for group in groups), default=0)
    for count, bound, noun in (
        (len(groups), bounds.groups, "request groups"),
        (most_classes, bounds.classes, "resource classes in one group"),
        (traits, bounds.traits, "traits"),
        (aggregates, bounds.aggregates, "aggregates"),
    ):
        if count > bound:
            raise QueryError(f"The query asks for {count} {noun}; at most {bound} are accepted.", BAD_VALUE)


def _check_resourceless(groups: list[Group], same_subtrees: Iterable[frozenset[str]]) -> None:
    """From 1.36 a suffixed group may go without resources, if `same_subtree` ties it to others."""
    if not any(group.resources for group in groups):
        raise QueryError("There must be at least one resources or resources[$S] parameter.", MISSING_VALUE)
    suffixes = [group.suffix for group in groups]
    tied = frozenset[str]().union(*same_subtrees)
    loose = [group.suffix for group in groups if not group.resources and group.suffix not in tied]
    if loose:
        raise QueryError(
            "Resourceless suffixed group request should be specified in `same_subtree` query param: "
            f"bad group(s) - {loose}.",
            BAD_VALUE,
        )
    for names in same_subtrees:
        unknown = sorted(names.difference(suffixes))
        if unknown:
            raise QueryError(
                f"Real suffixes should be specified in `same_subtree`: {unknown} not found in {sorted(suffixes)}.",
                BAD_VALUE,
            )


def _check_orphans(groups: list[Group], pairs: Pairs) -> None:
    """Below 1.36 each parameter of a group needs resources with the same suffix."""
    orphans = {group.suffix for group in groups if not group.resources}
    keys = sorted({key for key, _ in pairs})
    for parameter, noun, gap in (("required", "traits", "  "), ("member_of", "member_of", " ")):
        orphaned = [key for key in keys if key.startswith(parameter) and key.removeprefix(parameter) in orphans]
        if orphaned:
            raise QueryError(
                f"All {noun} parameters must be associated with resources.{gap}"
                f"Found the following orphaned {noun} keys: {', '.join(orphaned)}"
            )
    if orphans:
        raise QueryError("All request groups must specify resources.")
    if not groups:
        raise QueryError("At least one request group (`resources` or `resources{$S}`) is required.")


def _check_conflicts(groups: list[Group]) -> None:
    conflicts = [
        f"required{group.suffix}: ({', '.join(names)})"
        for group in sorted(groups, key=lambda group: group.suffix)
        if (names := group.traits.conflicts())
    ]
    if conflicts:
        raise QueryError(
            "Conflicting required and forbidden traits found in the following traits keys: " + ", ".join(conflicts)
        )


def _isolate(pairs: Pairs, groups: list[Group]) -> bool:
    policies = values_of(pairs, "group_policy")
    if not any(policies[:1]) and sum(1 for group in groups if group.suffix) > 1:
        raise QueryError(
            'The "group_policy" parameter is required when specifying more than one "resources{N}" parameter.'
        )
    return policies[:1] == ["isolate"]
