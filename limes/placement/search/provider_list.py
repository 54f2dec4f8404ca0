"""`GET /resource_providers`: which providers match a query. Each is judged on its own: nothing is shared or summed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from limes.placement.search.matching import GroupTest
from limes.placement.search.model import Cloud, Provider
from limes.placement.search.querystring import Pairs, QueryError, values_of
from limes.placement.search.request import DEFAULT_BOUNDS, Bounds, Group, check_bounds
from limes.placement.search.values import (
    ANY_TRAITS_SINCE,
    Traits,
    check_classes,
    check_names,
    normal_uuid,
    parse_aggregates,
    parse_resources,
    parse_traits,
)


@dataclass(frozen=True, slots=True)
class ProvidersRequest:
    """A whole query. Every condition has to hold."""

    group: Group = field(default_factory=Group)
    name: str | None = None
    uuid: str | None = None


def parse_providers(
    pairs: Pairs,
    minor: int,
    *,
    traits: Mapping[str, object],
    classes: Mapping[str, object],
    bounds: Bounds = DEFAULT_BOUNDS,
) -> ProvidersRequest:
    """Reads the parameters under microversion 1.`minor`, after the schema has been applied. Raises `QueryError`."""
    # this order decides which error is reported
    aggregates = parse_aggregates(values_of(pairs, "member_of"), minor)
    required = values_of(pairs, "required")
    asked_traits = parse_traits(required if minor >= ANY_TRAITS_SINCE else required[-1:], minor)
    resources = [parse_resources(text) for text in values_of(pairs, "resources")]
    group = Group(
        resources=resources[-1] if resources else {},
        traits=asked_traits,
        aggregates=aggregates,
        in_tree=_uuid(pairs, "in_tree"),
    )
    check_bounds([group], Traits(), bounds)
    try:
        check_names(group.traits, traits)
    except QueryError as error:
        raise QueryError(f'Invalid trait(s) in "required" parameter: {error}', error.code) from None
    check_classes(group.resources, classes)
    names = values_of(pairs, "name")
    # an empty name counts as no name
    return ProvidersRequest(group, (names[-1] if names else "") or None, _uuid(pairs, "uuid"))


def _uuid(pairs: Pairs, key: str) -> str | None:
    values = values_of(pairs, key)
    return normal_uuid(values[-1]) or values[-1] if values else None


def matching_providers(request: ProvidersRequest, cloud: Cloud) -> list[Provider]:
    """Returns the providers that match the request, in the order of their ids."""
    test = GroupTest(request.group, cloud)
    if test.impossible:
        return []
    matching = _named(request, cloud, test.in_tree)
    if test.restricts:
        matching = [provider for provider in matching if test.accepts(provider)]
    resources = request.group.resources
    if resources:
        matching = [provider for provider in matching if provider.fits(resources)]
    return list(matching)


def _named(request: ProvidersRequest, cloud: Cloud, root_id: int | None) -> Iterable[Provider]:
    """Returns those with the UUID and the name; only those of one tree, if its root's id is given."""
    named: Iterable[Provider]
    if request.uuid is not None:
        provider = cloud.by_uuid.get(request.uuid)
        named = [provider] if provider else []
    elif root_id is not None:
        named = sorted(cloud.trees[root_id].providers, key=lambda provider: provider.id)
    else:
        named = cloud.by_id.values()
    if request.name is not None:
        named = [provider for provider in named if provider.name == request.name]
    return named
