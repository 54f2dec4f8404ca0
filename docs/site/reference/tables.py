"""The tables of both halves, from their models."""

import ast
import inspect
from collections.abc import Iterator
from itertools import groupby, pairwise
from types import ModuleType
from typing import Any

import peewee

from limes.app import models as limes_models
from limes.placement import models as placement_models
from reference.markdown import code, table

_HEAD = """# Tables

Made from the models, which are in `models` of each feature ([architecture](../architecture.md)). Upgrades may change
tables; write through the APIs only.
"""
_TYPES = {
    "AUTO": "integer",
    "BIGAUTO": "integer",
    "INT": "integer",
    "BIGINT": "integer",
    "DOUBLE": "number",
    "BOOL": "yes or no",
}


def render() -> str:
    """The whole page."""
    conventions = inspect.cleandoc(limes_models.__doc__ or "").partition("\n\n- ")[2]
    order = ", ".join(code(model._meta.table_name) for model in limes_models.LOCK_ORDER)
    lines = [
        _HEAD,
        f"- {conventions}",
        "",
        f"Transactions lock rows in the order of these tables, those of one in the order of ids: {order}.",
        "",
    ]
    models = sorted((*limes_models.MODELS, *limes_models.ON_POSTGRESQL), key=_feature)
    for feature, those in groupby(models, key=_feature):
        lines += [f"## {feature.capitalize()}", ""]
        for model in those:
            lines += _table(model, "Only on PostgreSQL." if model in limes_models.ON_POSTGRESQL else "")
    lines += ["## Placement", ""]
    for model in placement_models.MODELS:
        lines += _table(model)
    return "\n".join(lines)


def _feature(model: Any) -> str:
    return str(model.__module__.split(".")[1])


def _table(model: Any, note: str = "") -> Iterator[str]:
    meta, texts = model._meta, _texts(model)
    keys = {field.column_name for field in meta.get_primary_keys()}
    yield from (
        f"### {meta.table_name}",
        "",
        *(text for text in (" ".join((model.__doc__ or "").split()), note) if text),
        "",
    )
    yield from table(
        ("column", "type", "refers to", "meaning"),
        (
            (
                code(field.column_name) + (" (key)" if field.column_name in keys else ""),
                _type(field),
                code(field.rel_model._meta.table_name) if isinstance(field, peewee.ForeignKeyField) else "",
                texts.get(field.name, ""),
            )
            for field in meta.sorted_fields
        ),
    )
    indexes = [
        ", ".join(code(field.column_name) for field in index._expressions if isinstance(field, peewee.Field))
        for index in meta.fields_to_index()
    ]
    if found := [index for index in indexes if index]:
        yield from (f"Indexes: {'; '.join(dict.fromkeys(found))}.", "")


def _type(field: Any) -> str:
    kind = _TYPES.get(field.field_type, field.field_type.lower())
    if isinstance(field, peewee.ForeignKeyField):
        kind = "integer"
    return f"{kind} or null" if field.null else kind


def _texts(model: Any) -> dict[str, str]:
    """The strings below the fields, of the class and of those that it extends."""
    texts: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        module = inspect.getmodule(kind)
        if module is None or not kind.__module__.startswith("limes."):
            continue
        for name, text in _below_fields(module, kind.__name__):
            texts[name] = text
    return texts


def _below_fields(module: ModuleType, name: str) -> Iterator[tuple[str, str]]:
    tree = ast.parse(inspect.getsource(module))
    body = next((node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name), [])
    for line, following in pairwise(body):
        if (
            isinstance(line, ast.Assign)
            and isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
        ):
            yield ast.unparse(line.targets[0]), str(following.value.value)
