"""The page `docs/configuration.md`, made from the models, so that it cannot lack a setting."""

import re
import typing
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from limes.settings.load import OVERRIDES
from limes.settings.root import Settings

_HEAD = """# Configuration

One YAML file, named by `--config` or `LIMES_CONFIG`. `limes config check` reports everything that is wrong at once.
Unknown keys are errors; relative paths count from the file's folder. A duration is a number of seconds, or an amount
with a unit: `30s`, `30m`, `2h`, `7 days`, `5 years` (of 365 days). Key names that the original Limes has mean the same
here. `config/limes.yaml` shows them in use.

This page is made by `limes config options`; a test holds it to the models.
"""


def render_page() -> str:
    """The whole page."""
    lines = [_HEAD]
    for name, field in Settings.model_fields.items():
        lines += [f"## `{name}`", "", *_describe(field)]
        model = _model_of(field.annotation)
        if model is not None:
            rows = (f"| {' | '.join(row)} |" for row in rows_of_model(model))
            lines += ["| key | default | meaning |", "|---|---|---|", *rows, ""]
    lines += ["## Environment", "", "These go before the file:", ""]
    lines += [f"- `{variable}`: `{'.'.join(path)}`" for variable, (path, _) in sorted(OVERRIDES.items())]
    lines += [
        "- `LIMES_DB_HOSTNAME`, `_PORT`, `_NAME`, `_USERNAME`, `_CONNECTION_OPTIONS`: the original's way to name a"
        " PostgreSQL database; together they make `database.url`",
        "- `LIMES_DEBUG`: `true` means `logging.level: DEBUG`",
        "- `OS_*`: the login at Keystone, where `identity.keystone` names none",
    ]
    return "\n".join(lines) + "\n"


def all_rows() -> Iterator[tuple[str, str, str]]:
    """(key, default, meaning) of each setting, with its section, without marks of Markdown."""
    for row in _rows(Settings, ""):
        key, default, meaning = (text.replace("\\|", "|") for text in row)
        yield key.strip("`"), default.strip("`"), meaning


def _describe(field: FieldInfo) -> list[str]:
    model = _model_of(field.annotation)
    text = _clean(field.description or (model.__doc__ if model else "") or "")
    plain = "" if model is not None else f" Default: {_default(field)}."
    return [f"{text}{plain}", ""]


def rows_of_model(model: type[BaseModel]) -> list[tuple[str, str, str]]:
    """(key, default, meaning) of each key, with those of the models within."""
    return list(_rows(model, ""))


def _rows(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, str]]:
    for name, field in model.model_fields.items():
        key = f"{prefix}{field.alias or name}"
        inner = _model_of(field.annotation)
        text = _clean(field.description or (inner.__doc__ if inner else "") or "")
        yield f"`{key}`", "" if inner else _default(field), text
        if inner is not None:
            yield from _rows(inner, f"{key}{'[]' if _is_list(field.annotation) else ''}.")


def _model_of(annotation: Any) -> type[BaseModel] | None:
    """The model in an annotation: itself, or the items of its list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in typing.get_args(annotation) if (model := _model_of(part))), None)


def _is_list(annotation: Any) -> bool:
    return typing.get_origin(annotation) is tuple


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None or value in ((), {}, ""):
        return "-"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _clean(text: str) -> str:
    return re.sub(r"\s+", " ", text.strip()).replace("|", "\\|")
