"""Allocations: of one consumer, of several, against a provider; the reshaper, which moves them; and candidates."""

import logging
import random
from collections.abc import Mapping
from functools import partial
from typing import Any

from limes.kernel.errors import Unavailable
from limes.placement import schemas
from limes.placement.call import Answer, Call
from limes.placement.errors import CapacityExceeded, ClassUnknown, InvalidValue, InventoryInUse, Missing, prefixed
from limes.placement.handlers import inventory
from limes.placement.objects import allocation as allocations
from limes.placement.objects import allocation_write, usage
from limes.placement.objects.allocation import ANY_GENERATION, Claim, Ownership
from limes.placement.objects.allocation_write import Shape
from limes.placement.search import candidates, values
from limes.placement.search.render import AT_ONCE, render
from limes.placement.search.request import Bounds, parse
from limes.placement.settings import PlacementBounds
from limes.web.call import BodyStream

log = logging.getLogger(__name__)

INCOMPLETE = "x-limes-incomplete"
"""The header of an answer that may lack candidates because the search was stopped. Its value says why."""


def _parse_claim(call: Call, uuid: str, body: Mapping[str, Any]) -> Claim:
    """One consumer's claim from a valid body of any microversion."""
    settings = call.deps.settings
    owner = Ownership(
        uuid=_checked_uuid(uuid),
        project_id=body.get("project_id", settings.incomplete_consumer_project_id),
        user_id=body.get("user_id", settings.incomplete_consumer_user_id),
        consumer_type=body.get("consumer_type"),
    )
    generation = body["consumer_generation"] if call.version >= 28 else ANY_GENERATION
    return Claim(owner, generation, _resources(body["allocations"]))


def _parse_claims(call: Call, body: Mapping[str, Any]) -> list[Claim]:
    """Several consumers' claims from a valid body. Raises `InvalidValue` if it names a consumer twice."""
    claims = [_parse_claim(call, uuid, consumer) for uuid, consumer in body.items()]
    if len({claim.owner.uuid for claim in claims}) < len(claims):
        raise InvalidValue("A consumer is named twice, in different notations of its UUID.")
    return claims


def _checked_uuid(value: str) -> str:
    """The UUID in the usual notation. Raises `InvalidValue` for any other text."""
    uuid = values.normal_uuid(value)
    if uuid is None:
        raise InvalidValue(f"Malformed consumer_uuid: {value}")
    return uuid


def show(call: Call) -> Answer:
    """GET /allocations/{consumer_uuid}. A consumer that does not exist has no allocations."""
    consumer, held = allocations.of_consumer(call.engine.primary, _consumer_uuid(call))
    by_provider: dict[str, dict[str, Any]] = {}
    for allocation in held:
        new = {"resources": {}, "generation": allocation.provider_generation}
        by_provider.setdefault(allocation.provider_uuid, new)["resources"][allocation.class_name] = allocation.used
    document: dict[str, Any] = {"allocations": by_provider}
    if consumer is not None:
        if call.version >= 12:
            document |= {"project_id": consumer.project_id, "user_id": consumer.user_id}
        if call.version >= 28:
            document["consumer_generation"] = consumer.generation
        if call.version >= 38:
            document["consumer_type"] = consumer.consumer_type or usage.UNKNOWN
    return Answer(document=document, last_modified=call.latest(held))


def list_of_provider(call: Call) -> Answer:
    """GET /resource_providers/{uuid}/allocations."""
    generation, held = allocations.of_provider(call.engine.primary, call.params["uuid"])
    consumers: dict[str, dict[str, Any]] = {}
    for allocation in held:
        entry = consumers.setdefault(allocation.consumer_uuid, {"resources": {}})
        entry["resources"][allocation.class_name] = allocation.used
        if call.version >= 28:
            entry["consumer_generation"] = allocation.consumer_generation
    document = {"allocations": consumers, "resource_provider_generation": generation}
    return Answer(document=document, last_modified=call.latest(held))


def replace(call: Call) -> Answer:
    """PUT /allocations/{consumer_uuid}."""
    uuid = _checked_uuid(call.params["consumer_uuid"])
    claim = _parse_claim(call, uuid, call.body(schemas.put_allocations(call.version)))
    _write(call, [claim], f"Unable to allocate inventory for consumer {uuid}:")
    return Answer(status=204)


def replace_several(call: Call) -> Answer:
    """POST /allocations, from 1.13."""
    body = call.body(schemas.post_allocations(call.version))
    _write(call, _parse_claims(call, body), "Unable to allocate inventory")
    return Answer(status=204)


def _write(call: Call, claims: list[Claim], unknown: str, shapes: Mapping[str, Shape] | None = None) -> None:
    """Writes everything in one transaction. `unknown` begins the message about a class that does not exist."""
    with (
        prefixed(ClassUnknown, unknown),
        prefixed(CapacityExceeded, "Unable to allocate inventory:"),
        prefixed(InventoryInUse, "update conflict:"),
    ):
        call.transaction(lambda: allocation_write.replace(call.engine, claims, call.now, shapes))


def delete(call: Call) -> Answer:
    """DELETE /allocations/{consumer_uuid}."""
    uuid = _consumer_uuid(call)
    if not call.transaction(lambda: allocation_write.delete(call.engine, uuid)):
        raise Missing(f"No allocations for consumer '{call.params['consumer_uuid']}'")
    return Answer(status=204)


def _consumer_uuid(call: Call) -> str:
    """The UUID in the path. Another text has no allocations."""
    given = call.params["consumer_uuid"]
    return values.normal_uuid(given) or given


def _resources(body: Any) -> dict[str, dict[str, int]]:
    """Amounts by provider and class, from the older list or from the object that came with 1.12. If the list has a
    provider twice, the last entry counts, as clients know it. Raises `InvalidValue` if a provider is named in two
    notations."""
    if isinstance(body, list):
        by_provider = {entry["resource_provider"]["uuid"]: entry["resources"] for entry in body}
    else:
        by_provider = {uuid: entry["resources"] for uuid, entry in body.items()}
    amounts = {
        values.normal_uuid(uuid) or uuid: {name: int(amount) for name, amount in resources.items()}
        for uuid, resources in by_provider.items()
    }
    if len(amounts) < len(by_provider):
        raise InvalidValue("A resource provider is named twice, in different notations of its UUID.")
    return amounts


def reshape(call: Call) -> Answer:
    """POST /reshaper, from 1.30."""
    body = call.body(schemas.post_reshape(call.version))
    shapes = {}
    for uuid, shape in body["inventories"].items():
        parse_all = partial(inventory.parse_all, shape["inventories"], call.version, uuid)
        shapes[values.normal_uuid(uuid) or uuid] = Shape(shape["resource_provider_generation"], parse_all)
    _write(call, _parse_claims(call, body["allocations"]), "malformed reshaper data:", shapes)
    return Answer(status=204)


def bounds_of(settings: PlacementBounds) -> Bounds:
    """The configured bounds of queries."""
    return Bounds(groups=settings.max_groups, traits=settings.max_traits, aggregates=settings.max_aggregates)


def list_candidates(call: Call) -> Answer:
    """The ways to satisfy a request for resources, and the state of the trees that they are in."""
    pairs = values.parse_pairs(call.req.query_string)
    problem = schemas.candidates_problem(call.version, dict(pairs))
    if problem is not None:
        raise values.invalid(problem)
    settings = call.deps.settings
    cloud = call.deps.index.current()
    request = parse(pairs, call.version, cloud, bounds_of(settings.bounds))
    shuffle = None
    if settings.randomize_allocation_candidates:
        shuffle = random.Random(call.deps.ids.uuid()).shuffle  # noqa: S311 - spreads load
    most = settings.bounds.max_candidates
    memory = None
    if not any(group.in_tree for group in request.groups):
        memory = call.deps.answers.of((call.version, *(pair for pair in pairs if pair[0] != "limit")))
    monotonic = call.deps.clock.monotonic
    end = monotonic() + settings.bounds.search_seconds
    result = candidates.search(request, cloud, most, shuffle, memory, lambda: monotonic() >= end)
    headers = {} if result.complete else {INCOMPLETE: _reason(call, result)}
    body = render(result, cloud, call.version, memory)
    if len(result.candidates) > AT_ONCE:
        return Answer(stream=BodyStream(body), last_modified=call.now, headers=headers)
    return Answer(data=b"".join(body), last_modified=call.now, headers=headers)


def _reason(call: Call, result: candidates.SearchResult) -> str:
    """Says why a search was stopped, and logs it. Raises `Unavailable` if it had found nothing by then. An empty answer
    would claim that there is no room, which is not known."""
    bounds = call.deps.settings.bounds
    bound = f"placement.bounds.max_candidates is {bounds.max_candidates}"
    if not result.in_time:
        bound = f"placement.bounds.search_seconds is {bounds.search_seconds:g}"
    count = len(result.candidates)
    log.warning("stopped looking for candidates with %d found (%s): %s", count, bound, call.req.query_string[:1000])
    if not result.candidates:
        raise Unavailable(
            f"The search for candidates was stopped before it found any ({bound}). This does not mean that there are"
            " none. Ask for fewer groups, or in fewer trees (in_tree, member_of)."
        )
    return f"stopped with {count} candidates ({bound})"
