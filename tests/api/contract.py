"""Holds answers against the OpenAPI document: each status, type of content and field has to be in it.

`World.request` does this with every answer of every test.
"""

import re
from functools import cache
from typing import Any

import jsonschema_rs

from limes.api.openapi import build
from limes.app.routes import DOCUMENTED_RULES, SECTIONS

DOCUMENT = build(SECTIONS, DOCUMENTED_RULES)


@cache
def _templates() -> list[tuple[re.Pattern[str], str]]:
    """Paths without variables come first: `.../commitments/new` is no commitment."""
    paths = sorted(DOCUMENT["paths"], key=lambda path: (path.count("{"), path))
    return [(re.compile(re.sub(r"{\w+}", "[^/]+", path)), path) for path in paths]


@cache
def _validator(method: str, template: str, status: str) -> jsonschema_rs.Validator:
    schema = response_of(method, template, status)["content"]["application/json"]["schema"]
    return jsonschema_rs.validator_for({**schema, "components": DOCUMENT["components"]})


def response_of(method: str, template: str, status: str) -> dict[str, Any]:
    """What the document says about one answer. Raises `AssertionError` if it does not know it."""
    responses = DOCUMENT["paths"][template][method]["responses"]
    assert status in responses, f"{method} {template} answers {status}, which the OpenAPI document does not know"
    found: dict[str, Any] = responses[status]
    if "$ref" in found:
        found = DOCUMENT["components"]["responses"][found["$ref"].rpartition("/")[2]]
    return found


def check_answer(method: str, path: str, result: Any) -> None:
    """Raises `AssertionError` for what the document does not know. Other methods and paths are none of its business."""
    method = "get" if method == "HEAD" else method.lower()
    template = next((template for pattern, template in _templates() if pattern.fullmatch(path)), None)
    if template is None or method not in DOCUMENT["paths"][template]:
        return
    status = str(result.status_code)
    known = response_of(method, template, status)
    assert "x-openstack-request-id" in result.headers
    if not result.content:
        return
    kind = result.headers["content-type"].partition(";")[0]
    where = f"{method} {template}: {status} with {kind}"
    assert kind in known.get("content", {}), f"{where}, which the OpenAPI document does not know: {result.text}"
    if kind == "application/json":
        problems = [
            f"{'/'.join(map(str, problem.instance_path))}: {problem.message}"
            for problem in _validator(method, template, status).iter_errors(result.json)
        ]
        assert not problems, f"{where} is not as the OpenAPI document says: {problems}"
