"""The page `docs/configuration.md`, made from the models, so that it cannot lack a setting."""

import re
import typing
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from limes.settings.load import OVERRIDES
from limes.settings.root import Settings
from limes.settings.words import say_default, say_size, say_type
from limes.validation.sections import documented_fields

_HEAD = """# Configuration

One YAML file: the one that `--config` or `LIMES_CONFIG` names, or else `/etc/limes/limes.yaml`, or else `limes.yaml` in
the current folder. `limes config init` writes a short one to start from; `config/limes.yaml` shows all keys in use.
`limes config check` reports everything that is wrong at once, and warns of entries that have no effect, such as a
behaviour for a resource that does not exist. Unknown keys are errors. Keys that the original Limes has too mean the
same here.

| type | is written as |
|---|---|
| duration | a number of seconds, or one with a unit: `30s`, `5m`, `2 hours`, `7 days`, `1 year` (365 days) |
| path | a path; a relative one counts from the folder of the configuration file |
| regular expression | a pattern in Python's syntax, such as `^iaas-.*$` |
| time | a date and a time: `2030-01-01T00:00:00Z` |
| name | letters, digits, `-`, `_` and `.`, beginning with a letter or digit |
| list of texts, list of names | a YAML list: `[one, two]` |
| names with texts, names with numbers | a YAML mapping: `{name: value}` |
| section, list of sections | the keys in the rows below it, such as `cors.max_age` for `cors: {max_age: 600}` |

A default of `-` means that the setting has no value.

`limes config options` writes this page; a test compares it with the code.
"""
_COLUMNS = ("key", "type", "default", "meaning")
_PLUGINS = {
    "discovery": "The [plugins for discovery](plugins.md#shipped-plugins) are [`list`](plugins.md#list),"
    " [`keystone`](plugins.md#keystone) and [`static`](plugins.md#static).",
    "services": "[Backend plugins](plugins.md) explains plugins in general. Those for services are"
    " [`cinder`](plugins/cinder.md), [`compute`](plugins/compute.md), [`dns`](plugins/dns.md),"
    " [`liquid`](plugins/liquid.md), [`loadbalancing`](plugins/loadbalancing.md), [`manila`](plugins/manila.md),"
    " [`network`](plugins/network.md), [`object-store`](plugins/object-store.md),"
    " [`placement`](plugins.md#placement), [`sharev2`](plugins/sharev2.md), [`static`](plugins.md#static) and"
    " [`volumev2`](plugins/volumev2.md).",
    "capacitors": "The plugins for capacity are [`cinder`](plugins/cinder.md), [`liquid`](plugins/liquid.md),"
    " [`manila`](plugins/manila.md), [`manual`](plugins.md#manual), [`nova`](plugins/nova.md),"
    " [`placement`](plugins.md#placement), [`prometheus`](plugins/prometheus.md), [`sharev2`](plugins/sharev2.md) and"
    " [`volumev2`](plugins/volumev2.md).",
}
"""What follows the description of a section whose entries name plugins."""


class Row(NamedTuple):
    """What a table says of a setting, as Markdown."""

    key: str
    type: str
    default: str
    meaning: str


def render_page() -> str:
    """The whole page."""
    lines = [_HEAD]
    for name, field in documented_fields(Settings).items():
        lines += [f"## `{name}`", "", *_describe(field)]
        if name in _PLUGINS:
            lines += [_PLUGINS[name], ""]
        model = _model_of(field.annotation)
        if model is not None:
            rows = (f"| {' | '.join(row)} |" for row in rows_of_model(model))
            lines += [f"| {' | '.join(_COLUMNS)} |", "|---|---|---|---|", *rows, ""]
    lines += ["## Environment", "", "These go before the file:", ""]
    lines += [f"- `{variable}`: `{'.'.join(path)}`" for variable, (path, _) in sorted(OVERRIDES.items())]
    lines += [
        "- `LIMES_DB_HOSTNAME`, `_PORT`, `_NAME`, `_USERNAME`, `_CONNECTION_OPTIONS`: the original's way to name a"
        " PostgreSQL database; together they make `database.url`",
        "- `LIMES_DEBUG`: `true` means `logging.level: DEBUG`",
        "- `OS_*`: the login at Keystone, where `identity.keystone` names none",
    ]
    return "\n".join(lines) + "\n"


def all_rows() -> Iterator[Row]:
    """What there is to say of each setting, with its section, without marks of Markdown in key, type and default."""
    for row in rows_of_model(Settings):
        key, kind, default, meaning = (text.replace("\\|", "|") for text in row)
        yield Row(key.strip("`"), kind.replace("`", ""), default.strip("`"), meaning)


def _describe(field: FieldInfo) -> list[str]:
    model = _model_of(field.annotation)
    text = _clean(field.description or (model.__doc__ if model else "") or "")
    if model is not None:
        return [text, ""]
    shown = _default(field)
    default = shown if shown == "required" else "no default" if shown == "-" else f"default: {shown}"
    return [f"{text} Type: {say_type(field)}; {default}.", ""]


def rows_of_model(model: type[BaseModel], prefix: str = "") -> Iterator[Row]:
    """Yields one row for each key, with those of the models within."""
    for name, field in documented_fields(model).items():
        key = f"{prefix}{field.alias or name}"
        inner = _model_of(field.annotation)
        text = _clean(field.description or (inner.__doc__ if inner else "") or "")
        default = "" if inner and not field.is_required() else _default(field)
        yield Row(f"`{key}`", say_type(field), default, text)
        if inner is not None:
            mark = "[]" if typing.get_origin(field.annotation) is tuple else ""
            yield from rows_of_model(inner, f"{key}{mark}.")


def _model_of(annotation: Any) -> type[BaseModel] | None:
    """The model in an annotation: itself, or the items of its list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in typing.get_args(annotation) if (model := _model_of(part))), None)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    shown, size = say_default(field), say_size(field)
    return f"`{shown}`{f' ({size})' if size else ''}" if shown else "-"


def _clean(text: str) -> str:
    return re.sub(r"\s+", " ", text.strip()).replace("|", "\\|")
