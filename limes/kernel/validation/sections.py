"""Parts of the configuration file, frozen models that know their keys, and value types that they share. Rules of the
core are such parts themselves."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import pydantic
from pydantic.fields import FieldInfo
from pydantic_core import core_schema


class Section(pydantic.BaseModel):
    """A part of the configuration file. Unknown keys are refused, and nothing changes after loading."""

    model_config = pydantic.ConfigDict(
        frozen=True, extra="forbid", arbitrary_types_allowed=True, hide_input_in_errors=True
    )


def documented_fields(model: type[pydantic.BaseModel]) -> Mapping[str, FieldInfo]:
    """Returns the fields of a model, which have the texts below them in the source as descriptions from now on.
    Pydantic can do the same for all models while it makes them (`use_attribute_docstrings`). Reading the sources took a
    tenth of the start of each process, and only processes that show the texts need them."""
    for owner in model.__mro__:
        if issubclass(owner, Section):
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
            for name, text in _texts_below_fields(tree):
                field = model.model_fields[name]
                field.description = field.description or inspect.cleandoc(text)
    return model.model_fields


def _texts_below_fields(tree: ast.stmt) -> Iterator[tuple[str, str]]:
    for line, below in pairwise(tree.body if isinstance(tree, ast.ClassDef) else ()):
        match line, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, text


def _compile(value: Any) -> re.Pattern[str]:
    if isinstance(value, re.Pattern):
        return value
    if not isinstance(value, str):
        raise ValueError("expected a regular expression as a string")
    try:
        return re.compile(value)
    except re.error as error:
        raise ValueError(f"{value!r} is not a valid regular expression: {error}") from None


Regex = Annotated[re.Pattern[str], pydantic.BeforeValidator(_compile)]
"""A regular expression. Whether it is anchored is said where it is used."""


def _seconds(time: datetime) -> float:
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


Moment = Annotated[
    float,
    pydantic.GetPydanticSchema(lambda _, read: core_schema.no_info_after_validator_function(_seconds, read(datetime))),
]
"""A time, in UTC if it names no zone; in the program, seconds since the epoch."""

_PATH = Annotated[str, pydantic.StringConstraints(pattern=r"^[^/]+/[^/]+$")]


def _split(value: Any, read: Any) -> tuple[str, str]:
    if isinstance(value, tuple):
        return value[0], value[1]
    service_type, _, name = read(value).partition("/")
    return service_type, name


ResourcePath = Annotated[
    tuple[str, str],
    pydantic.GetPydanticSchema(lambda _, read: core_schema.no_info_wrap_validator_function(_split, read(_PATH))),
]
"""`service/resource`; in the program, the pair of both."""


def _no_slash(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", value):
        raise ValueError("expected letters, digits, '-', '_' or '.', beginning with a letter or digit")
    return value


Name = Annotated[str, pydantic.AfterValidator(_no_slash)]
"""The name of a service type, a resource, an availability zone or a capacitor."""


_ALL_NETWORKS = "0.0.0.0"  # noqa: S104 - what an operator asks for


def _listen(value: str) -> str:
    host, colon, port = value.rpartition(":")
    is_port = port.isascii() and port.isdigit() and int(port) <= 65535
    if not colon or not is_port:
        raise ValueError("expected HOST:PORT, such as 127.0.0.1:8080, or :8080 for all networks of this machine")
    if ":" in host and not host.startswith("["):
        raise ValueError("expected an IPv6 address in brackets, such as [::1]:8080")
    return value if host else f"{_ALL_NETWORKS}:{port}"


ListenAddress = Annotated[str, pydantic.AfterValidator(_listen)]
"""`HOST:PORT`. Without a host, as in `:8080`, it is for all networks of this machine (IPv4)."""


def _from_folder(value: Any, info: pydantic.ValidationInfo) -> Any:
    """A relative path counts from the folder of the configuration file."""
    if isinstance(value, str) and info.context:
        return info.context["folder"] / value
    return value


ConfigPath = Annotated[Path, pydantic.BeforeValidator(_from_folder)]
"""A path; a relative one counts from the folder of the configuration file."""


def is_loopback(listen: str) -> bool:
    """Whether only this machine can reach a `HOST:PORT`."""
    host = listen.rpartition(":")[0].strip("[]")
    return host in ("localhost", "::1") or re.fullmatch(r"127\.\d+\.\d+\.\d+", host) is not None


def reachable(listen: str) -> str:
    """Returns the address at which this machine reaches a process that listens on `HOST:PORT`."""
    host, _, port = listen.rpartition(":")
    return f"127.0.0.1:{port}" if host.strip("[]") in ("", _ALL_NETWORKS, "::", "*") else listen
