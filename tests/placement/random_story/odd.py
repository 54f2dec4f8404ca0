"""What is out of shape: bodies, headers, and methods where they do not belong."""

from typing import Any

from tests.placement.random_story.draw import Draw

_ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 1.0, 1.5, 2**31 - 1, 2**31, 2**63, "", " ", "x", "1", "CUSTOM_ODD", "ä", "x" * 300,
    [], {}, [[]], ["x"], {"x": 1}, [None], 1e39, "null",
)  # fmt: skip


def anything(draw: Draw) -> Any:
    here = f"/resource_providers/{draw.provider()}"
    path = draw.rng.choice([
        "/", "/resource_providers", here, f"{here}/inventories", f"{here}/inventories/VCPU", f"{here}/usages",
        f"{here}/allocations", f"{here}/aggregates", f"{here}/traits", "/resource_classes", "/resource_classes/VCPU",
        "/traits", "/traits/HW_CPU_X86_AVX", "/allocations", f"/allocations/{draw.consumer()}", "/usages", "/reshaper",
        "/allocation_candidates", "/nowhere", f"{here}/", f"{here}/nowhere", "//", "/resource_providers/", "/traits/",
    ])  # fmt: skip
    method = draw.rng.choice(["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS"])
    return (method, path, draw.rng.choice([{}, [], None, "x"])) if draw.chance(0.5) else (method, path)


def odd_form(draw: Draw, data: str | None, headers: dict[str, str], version: str) -> tuple[str | None, str]:
    """Headers that are not as they should be, or a body that is no JSON."""
    which = draw.rng.randrange(4)
    if which == 0:
        headers["accept"] = draw.rng.choice(
            ["text/html", "text/plain", "application/xml", "*/*", "application/json", "text/html;q=0.5,*/*;q=0.1", ""]
        )
    elif which == 1 and data is not None:
        headers["content-type"] = draw.rng.choice(
            ["text/plain", "application/json; charset=utf-8", "application/xml", "json"]
        )
    elif which == 2 and data is not None:
        data = draw.rng.choice(["", "{", "null", "[]", "{}", "x", data + "}", '"x"', "1", '{"a": 1, "a": 2}'])
    else:
        version = draw.rng.choice(["latest", "1.40", "2.0", "0.9", "1.x", "1", "1.2.3", "-1.0", "LATEST"])
    return data, version


def bend(draw: Draw, body: Any) -> Any:
    """The body with something odd at one place in it."""
    rng = draw.rng
    if isinstance(body, dict) and body and draw.chance(0.85):
        bent = dict(body)
        key = rng.choice(sorted(bent))
        which = rng.random()
        if which < 0.5:
            bent[key] = bend(draw, bent[key])
        elif which < 0.7:
            del bent[key]
        elif which < 0.85:
            bent[rng.choice(["odd", "", "uuid", "CUSTOM_ODD", "generation", draw.uuid("odd")])] = bent[key]
        else:
            bent[key] = rng.choice(_ODD_VALUES)
        return bent
    if isinstance(body, list) and body and draw.chance(0.7):
        index = rng.randrange(len(body))
        return [*body, body[index]] if draw.chance(0.4) else [*body[:index], bend(draw, body[index])]
    return rng.choice(_ODD_VALUES)
