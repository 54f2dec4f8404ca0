"""GET /resource_providers: the list, with all its filters, from the index."""

from collections.abc import Iterable

import orjson

from limes.placement.call import Answer, Call
from limes.placement.handlers.allocation_candidate import bounds_of
from limes.placement.handlers.resource_provider import document_of
from limes.placement.schemas import resource_provider_list as schemas
from limes.placement.search.errors import invalid
from limes.placement.search.model import Provider
from limes.placement.search.provider_list import matching_providers, parse_providers
from limes.placement.search.querystring import last_values, parse_pairs

_CHANGES = (0, 1, 6, 11, 14)
"""The microversions that changed what is said of a provider."""


def list_providers(call: Call) -> Answer:
    """The providers that match the query."""
    pairs = parse_pairs(call.req.query_string)
    problem = schemas.query(call.version).problem(last_values(pairs))
    if problem is not None:
        raise invalid(problem)
    cloud = call.deps.index.current()
    bounds = bounds_of(call.deps.settings.bounds)
    request = parse_providers(pairs, call.version, traits=cloud.traits, classes=cloud.classes, bounds=bounds)
    found = matching_providers(request, cloud)
    updated = max((provider.updated_at for provider in found), default=call.now)
    return Answer(data=render_providers(found, call.version, call.prefix), last_modified=updated)


def render_providers(providers: Iterable[Provider], version: int, prefix: str) -> bytes:
    """The body. Each provider is rendered once for each form, and kept with its state in the index."""
    form = max(change for change in _CHANGES if change <= version)
    key = (form, prefix)
    parts = []
    for provider in providers:
        part = provider.cache.get(key)
        if part is None:
            part = provider.cache[key] = orjson.dumps(document_of(provider, form, prefix))
        parts.append(part)
    return b'{"resource_providers":[%b]}' % b",".join(parts)
