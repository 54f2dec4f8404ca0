"""GET /allocation_candidates."""

import logging
import random

from limes.placement.call import Answer, Call
from limes.placement.schemas import allocation_candidate as schemas
from limes.placement.search.candidates import search
from limes.placement.search.errors import invalid
from limes.placement.search.querystring import last_values, parse_pairs
from limes.placement.search.render import render
from limes.placement.search.request import Bounds, parse
from limes.settings.placement import PlacementBounds

log = logging.getLogger(__name__)


def bounds_of(settings: PlacementBounds) -> Bounds:
    """The bounds of queries, from the configuration."""
    return Bounds(groups=settings.max_groups, traits=settings.max_traits, aggregates=settings.max_aggregates)


def list_candidates(call: Call) -> Answer:
    """The ways to satisfy a request for resources, and the state of the trees that they are in."""
    pairs = parse_pairs(call.req.query_string)
    problem = schemas.problem(call.version, last_values(pairs))
    if problem is not None:
        raise invalid(problem)
    settings = call.deps.settings
    cloud = call.deps.index.current()
    bounds = bounds_of(settings.bounds)
    request = parse(pairs, call.version, traits=cloud.traits, classes=cloud.classes, bounds=bounds)
    shuffle = None
    if settings.randomize_allocation_candidates:
        shuffle = random.Random(call.deps.ids.uuid()).shuffle  # noqa: S311 - spreads load
    most = settings.bounds.max_candidates
    memory = None
    if not any(group.in_tree for group in request.groups):
        memory = call.deps.answers.of((call.version, *(pair for pair in pairs if pair[0] != "limit")))
    found = search(request, cloud, most, shuffle, memory)
    if not found.complete:
        log.warning(
            "stopped looking for candidates with %d found (placement.bounds.max_candidates is %d): %s",
            len(found.candidates),
            most,
            call.req.query_string[:1000],
        )
    return Answer(data=render(found, cloud, call.version, memory), last_modified=call.now)
