"""The Limes API, from its OpenAPI document."""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from limes.api.openapi import build
from limes.app.routes import DOCUMENTED_RULES, SECTIONS
from reference.markdown import code, table

Json = Mapping[str, Any]

_HEAD = """# Operations of the Limes API

Made from the OpenAPI document that `GET /v1/openapi.json` answers. [Limes Resource API v1](../limes-api.md) says what
the fields mean and when they are shown, [Commitments](../commitments.md) the same of commitments.
"""
_EVERYWHERE = ("X-Limes-Cluster-Id",)
"""Headers of every operation, which would only be repeated."""


def render() -> str:
    """The whole page."""
    document = build(SECTIONS, DOCUMENTED_RULES)
    lines = [_HEAD]
    tags = dict.fromkeys(tag for item in document["paths"].values() for one in _methods(item) for tag in one[1]["tags"])
    for tag in tags:
        lines += [f"## {tag.capitalize()}", ""]
        for path, item in document["paths"].items():
            for method, operation in _methods(item):
                if tag in operation["tags"]:
                    lines += _operation(method, path, operation, item.get("parameters", []))
    lines += ["## Documents", "", "Fields that are always there are marked; the others are there when they apply.", ""]
    for name, schema in document["components"]["schemas"].items():
        lines += _schema(name, schema)
    return "\n".join(lines)


def _methods(item: Json) -> Iterator[tuple[str, Json]]:
    return ((method.upper(), one) for method, one in item.items() if method != "parameters")


def _operation(method: str, path: str, operation: Json, of_path: list[Json]) -> list[str]:
    lines = [f"### {method} {path}", "", operation["summary"], ""]
    if "description" in operation:
        lines += [operation["description"], ""]
    parameters = [*of_path, *(one for one in operation["parameters"] if one["name"] not in _EVERYWHERE)]
    lines += table(
        ("parameter", "in", "type", "meaning"),
        ((code(one["name"]), one["in"], _type(one["schema"]), one["description"]) for one in parameters),
    )
    if "requestBody" in operation:
        lines += [f"Body: {_content(operation['requestBody'])}.", ""]
    answers = [f"**{status}** {_answer(status, one)}".strip() for status, one in operation["responses"].items()]
    return [*lines, f"Answers: {', '.join(answers)}.", ""]


def _answer(status: str, answer: Json) -> str:
    if "$ref" in answer:
        return HTTPStatus(int(status)).phrase
    return _content(answer) or "nothing"


def _content(part: Json) -> str:
    kinds = part.get("content", {})
    return " or ".join(_type(kind["schema"]) if name.endswith("json") else "text" for name, kind in kinds.items())


def _schema(name: str, schema: Json) -> list[str]:
    lines = [f"### {name}", ""]
    if "description" in schema:
        lines += [schema["description"], ""]
    required = schema.get("required", ())
    rows = (
        (code(field) + (" (always)" if field in required else ""), _type(value), value.get("description", ""))
        for field, value in schema.get("properties", {}).items()
    )
    lines += table(("field", "type", "meaning"), rows)
    return lines if "properties" in schema else [*lines, f"{_type(schema)}.", ""]


def _type(schema: Json) -> str:
    """In words; other documents are links."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return "one of " + ", ".join(code(one) for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    return " ".join([schema.get("type", "anything"), *_bounds(schema)])


def _bounds(schema: Json) -> Iterator[str]:
    if "const" in schema:
        yield code(schema["const"])
    if "minimum" in schema:
        yield f"from {schema['minimum']}"
    if "maximum" in schema:
        yield f"to {schema['maximum']}"
