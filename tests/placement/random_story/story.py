"""Random requests over all routes and microversions, right and wrong ones, the same for each seed.

A story lives in a world of a few names of its own. It looks at what one server answers (generations, mostly), so that
many of its requests are right; and bends some of them out of shape.
"""

import json
from dataclasses import dataclass, field

from limes.placement import operation as microversion
from tests.placement.random_story import allocations, inventories, names, providers, reads
from tests.placement.random_story.draw import Draw, Look
from tests.placement.random_story.odd import anything, bend, odd_form

_VERSIONS = (
    0, 1, 4, 6, 7, 8, 9, 11, 12, 13, 14, 17, 18, 19, 20, 21, 23, 24, 25, 26, 27, 28, 29, 31, 33, 34, 36, 37, 38, 39,
)  # fmt: skip
_MAKERS = (
    (providers.post, 8), (providers.put, 4), (providers.delete, 1), (names.resource_classes, 4),
    (names.traits, 4), (inventories.put_all, 8), (inventories.put, 3), (inventories.post, 3),
    (inventories.delete, 1), (providers.put_traits, 4), (providers.put_aggregates, 4), (allocations.put, 10),
    (allocations.post, 5), (allocations.delete, 2), (allocations.reshape, 4), (reads.get, 10),
    (reads.candidates, 10), (reads.providers, 6), (reads.usages, 4), (anything, 2),
)  # fmt: skip
"""What answers method, path and, if there is one, the body of a request, and how often it is asked."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `data` is the body as it is sent; None sends none."""

    method: str
    path: str
    version: str
    data: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.version} {self.method} {self.path} {self.data} {self.headers or ''}"


class RandomStory:
    """The requests of one seed."""

    def __init__(self, seed: int, look: Look) -> None:
        self.draw = Draw(seed, look)

    def next(self) -> Request:
        """The next request."""
        draw = self.draw
        draw.version = 39 if draw.chance(0.3) else draw.rng.choice(_VERSIONS)
        (maker,) = draw.rng.choices([one for one, _ in _MAKERS], [weight for _, weight in _MAKERS])
        method, path, *rest = maker(draw)
        body = rest[0] if rest else None
        if body is not None and draw.chance(0.12):
            body = bend(draw, body)
            if path == "/resource_providers" and isinstance(body, dict):
                body.setdefault("uuid", draw.uuid("given"))  # else each server thinks of another one
        data = None if not rest else json.dumps(body)
        headers: dict[str, str] = {}
        version = microversion.text(draw.version)
        if draw.chance(0.04):
            data, version = odd_form(draw, data, headers, version)
        return Request(method, path, version, data, headers)

    def forget_idle(self, request: Request) -> None:
        """Takes others in place of those consumers of a write that have nothing: upstream may remember them."""
        self.draw.forget_idle(f"{request.path} {request.data}")
