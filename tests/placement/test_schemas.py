"""What the fast validator accepts, jsonschema accepts, too: for bodies that fit mostly, and then not quite."""

import inspect
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limes.placement import operation, schemas

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3) | st.sampled_from([2**31, 2**64, 10**30]),
    st.sampled_from([0.0, 1.0, 1.5, -0.5, 1e300, 3.5e38]),
    st.sampled_from(["", "CUSTOM_X", "CUSTOM_X\n", "VCPU", "vcpu", "x" * 256, "all", "12", "0", "no uuid", "ä"]),
    st.sampled_from(["5E3A3B1D-1111-4222-8333-944444444444", "5e3a3b1d111142228333944444444444"]),
    st.lists(st.integers(1, 2) | st.sampled_from(["1", True, 1.0]), max_size=3),
    st.dictionaries(st.sampled_from(["VCPU", "uuid", "x"]), st.integers(0, 1), max_size=2),
)
KEYS = ODD.filter(lambda value: isinstance(value, str))


def every_schema() -> dict[str, schemas.Schema]:
    """By name and microversion."""
    found: dict[str, schemas.Schema] = {}
    for name, value in vars(schemas).items():
        if isinstance(value, schemas.Schema):
            found[name] = value
        elif inspect.isfunction(getattr(value, "__wrapped__", None)) and value.__module__ == schemas.__name__:
            for version in range(operation.MAX + 1):
                schema = schema_of(value, version)
                if isinstance(schema, schemas.Schema):
                    found[f"{name} {version}"] = schema
    return {name: schema for name, schema in found.items() if found.get(earlier(name)) is not schema}


def schema_of(versioned: Any, version: int) -> Any:
    try:
        return versioned(version)
    except (TypeError, ValueError):  # not of a version, or not in this one
        return None


def earlier(name: str) -> str:
    name, _, version = name.partition(" ")
    return f"{name} {int(version) - 1}" if version else ""


ALL = every_schema()


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """What the schema asks for, mostly."""
    kinds = schema.get("type", "string")
    kind = kinds[0] if isinstance(kinds, list) else kinds
    usual: st.SearchStrategy[Any]
    if "enum" in schema:
        usual = st.sampled_from(schema["enum"])
    elif "anyOf" in schema:
        usual = st.one_of([fitting(one) for one in schema["anyOf"]])
    elif kind == "object":
        known = {name: fitting(value) for name, value in schema.get("properties", {}).items()}
        usual = st.fixed_dictionaries({}, optional=known)
        if schema.get("required"):
            required = {name: known.pop(name) for name in schema["required"]}
            usual = st.fixed_dictionaries(required, optional=known)
        for value in schema.get("patternProperties", {}).values():
            usual = st.tuples(usual, st.dictionaries(KEYS, fitting(value), max_size=2)).map(lambda two: two[0] | two[1])
    elif kind == "array":
        usual = st.lists(fitting(schema["items"]), max_size=3)
    elif kind in ("integer", "number"):
        usual = st.integers(1, 3)
    else:
        usual = KEYS
    return st.one_of(usual, usual, usual, ODD)


def test_it_has_found_the_schemas() -> None:
    assert len(ALL) > 25
    assert {"PUT_TRAITS", "put_allocations 0", "put_allocations 38", "_granular_candidates 36"} <= ALL.keys()


@pytest.mark.parametrize("name", ALL)
def test_both_judge_alike(name: str) -> None:
    schema = ALL[name]
    exact = jsonschema.Draft202012Validator(schema.document, format_checker=schemas._formats)

    @settings(max_examples=60, deadline=None)
    @given(fitting(schema.document))
    def judged(document: Any) -> None:
        assert (schema.problem(document) is None) == exact.is_valid(document)

    judged()
