"""Requests about resource classes and traits."""

from typing import Any
from urllib.parse import quote

from tests.placement.random_story.draw import Draw


def resource_classes(draw: Draw) -> Any:
    name = draw.rng.choice(draw.own_classes)
    if draw.chance(0.1):
        name = draw.rng.choice(["VCPU", "CUSTOM_", "custom_x", "CUSTOM_ä", "NOPE", "CUSTOM_" + "X" * 249, "A B"])
    path = f"/resource_classes/{quote(name)}"
    which = draw.rng.randrange(6)
    if which == 0:
        return "POST", "/resource_classes", {"name": name}
    if which <= 3:
        return ("PUT", path) if draw.version >= 7 else ("PUT", path, {"name": draw.rng.choice(draw.own_classes)})
    return ("DELETE", path) if which == 4 else ("GET", path)


def traits(draw: Draw) -> Any:
    name = draw.rng.choice(draw.own_traits)
    if draw.chance(0.1):
        name = draw.rng.choice(["HW_CPU_X86_AVX", "CUSTOM_", "custom_x", "CUSTOM_ä", "CUSTOM_" + "X" * 249, "A B"])
    which = draw.rng.randrange(7)
    if which == 6:
        queries = [
            f"name=startswith:CUSTOM_T{draw.seed}_", f"name=in:{name},HW_CPU_X86_AVX", "name=x", "name=in:", "name=",
            f"associated=true&name=startswith:CUSTOM_T{draw.seed}_", "associated=TRUE&name=in:HW_CPU_X86_SSE",
            f"associated=false&name=startswith:CUSTOM_T{draw.seed}_", "associated=1", "odd=1", "name=startswith:",
        ]  # fmt: skip
        return "GET", f"/traits?{draw.rng.choice(queries)}"
    return ("PUT" if which <= 3 else "DELETE" if which == 4 else "GET"), f"/traits/{quote(name)}"
