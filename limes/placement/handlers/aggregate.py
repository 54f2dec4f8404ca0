"""The aggregates that a provider is a member of."""

from typing import Any

from limes.placement.call import Answer, Call
from limes.placement.objects import aggregate as aggregates
from limes.placement.objects import resource_provider
from limes.placement.schemas import resource_provider as schema
from limes.placement.search.values import aggregate_name

_STALE = "Resource provider's generation already changed. Please update the generation and try again."


def show(call: Call) -> Answer:
    """GET /resource_providers/{uuid}/aggregates."""
    provider_id, generation = resource_provider.identify(call.engine, call.params["uuid"])
    return _answer(call, aggregates.of_provider(call.engine, provider_id), generation)


def replace(call: Call) -> Answer:
    """PUT /resource_providers/{uuid}/aggregates: from 1.19 with the generation, which counts up."""
    resource_provider.identify(call.engine, call.params["uuid"])
    body = call.body(schema.put_aggregates(call.version))
    guarded = call.version >= 19
    uuids = list(dict.fromkeys(aggregate_name(uuid) or uuid for uuid in (body["aggregates"] if guarded else body)))

    def work() -> int:
        provider = resource_provider.lock(call.engine, call.params["uuid"])
        if guarded:
            provider.check_generation(body["resource_provider_generation"], _STALE)
        aggregates.replace_of_provider(call.engine, provider.id, uuids)
        if guarded:
            return resource_provider.next_generation(call.engine, provider.id, call.now)
        resource_provider.touch(call.engine, provider.id, call.now)
        return provider.generation

    return _answer(call, uuids, call.transaction(work))


def _answer(call: Call, uuids: list[str], generation: int) -> Answer:
    document: dict[str, Any] = {"aggregates": uuids}
    if call.version >= 19:
        document["resource_provider_generation"] = generation
    return Answer(document=document, last_modified=call.now)
