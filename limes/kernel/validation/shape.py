"""What all answers have in common: one definition for mypy, for the OpenAPI document, and for the encoder."""

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Self, dataclass_transform, get_args, get_type_hints

import msgspec
from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import core_schema

Amount = Annotated[int, Field(ge=0)]
"""In the unit of the resource."""
PositiveAmount = Annotated[int, Field(ge=1)]
Time = Annotated[int, Field(ge=0, description="UNIX timestamp, in whole seconds")]
Unit = Annotated[str, Field(description="only of measured resources")]


def one_of(words: Iterable[StrEnum]) -> Any:
    return Field(json_schema_extra={"enum": [word.value for word in words]})


class _ByName(msgspec.StructMeta):
    """Fields are given by their names, so that optional ones can stand where they belong."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        return super().__new__(
            cls, name, bases, namespace, **{"kw_only": True, "omit_defaults": True, "gc": False} | options
        )


@dataclass_transform(kw_only_default=True, field_specifiers=(msgspec.field,))
class Shape(msgspec.Struct, metaclass=_ByName):
    """A document or a part of one, in the order of its fields. Those with their default, such as None, are left out."""

    if TYPE_CHECKING:

        def __copy__(self) -> Self:
            """msgspec has it, and its types do not say so."""

    def as_json(self) -> str:
        return msgspec.json.encode(self).decode()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Has pydantic describe it as a TypedDict: a field that may be missing is never null."""
        hints = get_type_hints(cls, include_extras=True)
        fields = {}
        for field in msgspec.structs.fields(cls):
            hint, is_set = hints[field.name], field.required
            if ((kinds := get_args(hint))[1:] == (type(None),) and not is_set) or kinds[1:] == (msgspec.UnsetType,):
                hint, is_set = kinds[0], False
            fields[field.encode_name] = core_schema.typed_dict_field(handler.generate_schema(hint), required=is_set)
        return core_schema.typed_dict_schema(fields, cls=cls, ref=f"{cls.__module__}.{cls.__qualname__}")


def stored(json: str | bytes) -> Any:
    """Returns a value that is JSON already."""
    return msgspec.Raw(json)


def seconds(time: float | None) -> int | None:
    """Returns a UNIX timestamp as answers show it, in whole seconds."""
    return None if time is None else int(time)
