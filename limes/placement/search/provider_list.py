"""`GET /resource_providers`: which providers match a query. Each is judged on its own: nothing is shared or summed."""

from collections.abc import Iterable

from msgspec import Struct, field

from limes.placement.search import values
from limes.placement.search.matching import GroupTest
from limes.placement.search.model import Cloud, Provider, Tree
from limes.placement.search.request import DEFAULT_BOUNDS, Bounds, Group, check_bounds
from limes.placement.search.values import Pairs, QueryError, values_of


class ProvidersRequest(Struct, frozen=True):
    """A whole query. Every condition has to hold."""

    group: Group = field(default_factory=Group)
    name: str | None = None
    uuid: str | None = None


def parse_providers(pairs: Pairs, minor: int, cloud: Cloud, bounds: Bounds = DEFAULT_BOUNDS) -> ProvidersRequest:
    """Reads the parameters under microversion 1.`minor`, after the schema has been applied. Raises `QueryError`."""
    # this order decides which error is reported
    aggregates = values.parse_aggregates(values_of(pairs, "member_of"), minor)
    asked_traits = values.parse_traits(values_of(pairs, "required"), minor)
    resources = [values.parse_resources(text) for text in values_of(pairs, "resources")]
    group = Group(
        resources=resources[-1] if resources else {},
        traits=asked_traits,
        aggregates=aggregates,
        in_tree=_uuid(pairs, "in_tree"),
    )
    check_bounds([group], values.Traits(), bounds)
    try:
        values.check_names(group.traits, cloud.traits)
    except QueryError as error:
        raise QueryError(f'Invalid trait(s) in "required" parameter: {error}', error.code) from None
    values.check_classes(group.resources, cloud.classes)
    names = values_of(pairs, "name")
    # an empty name counts as no name
    return ProvidersRequest(group, (names[-1] if names else "") or None, _uuid(pairs, "uuid"))


def _uuid(pairs: Pairs, key: str) -> str | None:
    texts = values_of(pairs, key)
    return values.normal_uuid(texts[-1]) or texts[-1] if texts else None


def matching_providers(request: ProvidersRequest, cloud: Cloud) -> list[Provider]:
    test = GroupTest(request.group, cloud)
    if test.impossible:
        return []
    matching = _possible(request, cloud, test)
    if test.restricts:
        matching = [provider for provider in matching if test.accepts(provider)]
    resources = request.group.resources
    if resources:
        matching = [provider for provider in matching if provider.fits(resources)]
    return list(matching)


def _possible(request: ProvidersRequest, cloud: Cloud, test: GroupTest) -> Iterable[Provider]:
    """Returns those with the UUID and the name, without a look at trees that have none of the others."""
    possible: Iterable[Provider]
    if request.uuid is not None:
        provider = cloud.provider_of(request.uuid)
        possible = [provider] if provider else []
    elif test.in_tree is not None:
        possible = _in_order([cloud.trees[test.in_tree]])
    elif test.member_of:
        groups = [cloud.by_aggregate[uuid] for uuid in min(test.member_of, key=len) if uuid in cloud.by_aggregate]
        # a tree may have members of several
        possible = _in_order({tree.root.id: tree for trees in groups for tree in trees.values()}.values())
    else:
        possible = cloud.by_id.values()
    if request.name is not None:
        possible = [provider for provider in possible if provider.name == request.name]
    return possible


def _in_order(trees: Iterable[Tree]) -> list[Provider]:
    return sorted((provider for tree in trees for provider in tree.providers), key=lambda provider: provider.id)
