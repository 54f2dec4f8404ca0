"""Reads, and searches for providers and candidates."""

from typing import Any
from urllib.parse import urlencode

from tests.placement.random_story.draw import Draw


def get(draw: Draw) -> Any:
    here = f"/resource_providers/{draw.provider()}"
    paths = [
        here, f"{here}/inventories", f"{here}/inventories/{draw.resource_class()}", f"{here}/usages",
        f"{here}/allocations", f"{here}/aggregates", f"{here}/traits", f"/allocations/{draw.consumer()}",
        f"/allocations/{draw.consumer()}", "/", "/resource_classes",
    ]  # fmt: skip
    return "GET", draw.rng.choice(paths)


def usages(draw: Draw) -> Any:
    pairs = [("project_id", draw.rng.choice([*draw.projects, "", "x"]))]
    if draw.chance(0.3):
        pairs.append(("user_id", draw.rng.choice(["u1", "u2", ""])))
    if draw.version >= 38 or draw.chance(0.1):
        pairs += [("consumer_type", draw.rng.choice(["all", "unknown", "INSTANCE", "ALL", "x", ""]))] * draw.chance(0.7)
    if draw.chance(0.1):
        pairs.append(draw.rng.choice([("odd", "1"), ("project_id", draw.projects[0]), ("user_id", "u1")]))
    return "GET", f"/usages?{urlencode(pairs[draw.chance(0.05) :])}"


def _amounts(draw: Draw, most: int) -> str:
    if draw.chance(0.04):
        return draw.rng.choice(
            ["", "VCPU", "VCPU:", "VCPU:0", "VCPU:-1", "VCPU:x", "NOPE:1", ":1", "VCPU:1:1", "VCPU:1,"]
        )
    names = list(dict.fromkeys(draw.resource_class() for _ in range(draw.rng.randint(1, most))))
    return ",".join(f"{name}:{draw.rng.choice([1, 1, 1, 2, 3])}" for name in names)


def _required(draw: Draw) -> str:
    if draw.chance(0.08):
        odd = ["", "!", ",", "NOPE", "!NOPE", "in:", "in:NOPE", "in:!HW_CPU_X86_AVX", "HW_CPU_X86_AVX,", " ", "in"]
        return draw.rng.choice(odd)
    names = draw.some(draw.trait, 2) or [draw.trait()]
    if draw.version >= 39 and draw.chance(0.3):
        return "in:" + ",".join(names)
    may_forbid = draw.version >= 22 or draw.chance(0.05)
    return ",".join(("!" if may_forbid and draw.chance(0.4) else "") + name for name in names)


def _member_of(draw: Draw) -> str:
    if draw.chance(0.08):
        one = draw.aggregates[0]
        return draw.rng.choice(
            ["", "x", "in:", "in:x", "!", "!in:", f"{one},{one}", f"in:{one},", f"!{one},{one}", "!!x"]
        )
    sign = "!" if (draw.version >= 32 or draw.chance(0.05)) and draw.chance(0.3) else ""
    some = draw.some(lambda: draw.rng.choice(draw.aggregates), 3)
    return f"{sign}in:{','.join(some)}" if some else sign + draw.rng.choice(draw.aggregates)


def _filters(draw: Draw, suffix: str, often: float) -> list[tuple[str, str]]:
    """Filters of one group that the microversion has, and now and then one that it has not."""
    pairs = []
    for name, make, since, chance in (
        ("required", _required, 17, 0.4), ("required", _required, 39, 0.2),
        ("member_of", _member_of, 21, 0.25), ("member_of", _member_of, 24, 0.1),
        ("in_tree", Draw.provider, 31, 0.2),
    ):  # fmt: skip
        if (draw.version >= since or draw.chance(0.03)) and draw.chance(chance * often):
            pairs.append((name + suffix, make(draw)))
    return pairs


def candidates(draw: Draw) -> Any:
    rng = draw.rng
    draw.version = max(draw.version, rng.choice([0, 10, 10, 25, 36]))
    pairs: list[tuple[str, str]] = []
    if draw.version < 25 or draw.chance(0.65):
        pairs += [("resources", _amounts(draw, 2)), *_filters(draw, "", 1.0)]
    suffixes = []
    if draw.version >= 25 or draw.chance(0.03):
        for number in range(rng.choice([0, 0, 1, 2])):
            suffix = str(number + 1) if draw.chance(0.9) else rng.choice(["_A", "0", "01", "_a-b", "ä", "-"])
            suffixes.append(suffix)
            pairs += [(f"resources{suffix}", _amounts(draw, 2))] * draw.chance(0.93) + _filters(draw, suffix, 0.6)
    if (draw.version >= 36 or draw.chance(0.02)) and suffixes and draw.chance(0.5):
        pairs.append(("same_subtree", ",".join(rng.choice(suffixes) for _ in range(rng.randint(1, 2)))))
    if len(suffixes) > 1 or draw.chance(0.1):
        pairs += [("group_policy", rng.choice(["none", "isolate", "none", "isolate", "odd"]))] * draw.chance(0.95)
    if draw.version >= 35 and draw.chance(0.2):
        pairs.append(("root_required", _required(draw)))
    if draw.chance(0.1):
        pairs.append(("limit", rng.choice(["1", "2", "1000", "0", "-1", "x", "", "01"])))
    if draw.chance(0.03):
        pairs.append(rng.choice([("odd", "1"), ("limit", "1"), ("resources", "VCPU:1"), ("root_required", "NOPE")]))
    return "GET", f"/allocation_candidates?{urlencode(pairs, safe=':,!')}"


def providers(draw: Draw) -> Any:
    rng = draw.rng
    pairs: list[tuple[str, str]] = []
    if draw.chance(0.2):
        pairs.append(("name", f"{draw.seed}-{rng.randrange(6)}" if draw.chance(0.9) else ""))
    if draw.chance(0.2):
        pairs.append(("uuid", draw.rng.choice([*draw.providers, "x", ""])))
    if (draw.version >= 4 or draw.chance(0.05)) and draw.chance(0.5):
        pairs.append(("resources", _amounts(draw, 2)))
    if (draw.version >= 3 or draw.chance(0.05)) and draw.chance(0.4):
        pairs += [("member_of", _member_of(draw))] * rng.choice([1, 1, 2])
    if (draw.version >= 14 or draw.chance(0.05)) and draw.chance(0.4):
        pairs.append(("in_tree", draw.rng.choice([*draw.providers, "x", ""])))
    if (draw.version >= 18 or draw.chance(0.05)) and draw.chance(0.4):
        pairs += [("required", _required(draw))] * rng.choice([1, 1, 2])
    if draw.chance(0.03):
        pairs.append(rng.choice([("odd", "1"), ("limit", "1"), ("name", "x"), ("required1", "VCPU")]))
    return "GET", f"/resource_providers?{urlencode(pairs, safe=':,!')}"
