"""GET /allocation_candidates."""

import logging
import random

from limes.errors import Unavailable
from limes.placement.call import Answer, Call
from limes.placement.schemas import allocation_candidate as schemas
from limes.placement.search.candidates import SearchResult, search
from limes.placement.search.querystring import invalid, last_values, parse_pairs
from limes.placement.search.render import AT_ONCE, render
from limes.placement.search.request import Bounds, parse
from limes.settings.placement import PlacementBounds
from limes.web.call import BodyStream

log = logging.getLogger(__name__)

INCOMPLETE = "x-limes-incomplete"
"""The header of an answer that may lack candidates because the search was stopped. Its value says why."""


def bounds_of(settings: PlacementBounds) -> Bounds:
    """The configured bounds of queries."""
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
    monotonic = call.deps.clock.monotonic
    end = monotonic() + settings.bounds.search_seconds
    result = search(request, cloud, most, shuffle, memory, lambda: monotonic() >= end)
    headers = {} if result.complete else {INCOMPLETE: _reason(call, result)}
    body = render(result, cloud, call.version, memory)
    if len(result.candidates) > AT_ONCE:
        return Answer(stream=BodyStream(body), last_modified=call.now, headers=headers)
    return Answer(data=b"".join(body), last_modified=call.now, headers=headers)


def _reason(call: Call, result: SearchResult) -> str:
    """Says why a search was stopped, and logs it. Raises `Unavailable` if it had found nothing by then.

    An empty answer would claim that there is no room, which is not known.
    """
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
