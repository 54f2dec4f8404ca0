"""What all answers have in common: one definition for mypy, for the OpenAPI document, and for the encoder."""

from typing import Any, dataclass_transform, get_args, get_type_hints

import msgspec
from pydantic import GetCoreSchemaHandler
from pydantic_core import core_schema


class _ByName(msgspec.StructMeta):
    """Fields are given by their names, so that those that may be missing can stand where they belong."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        return super().__new__(cls, name, bases, namespace, **{"kw_only": True, "omit_defaults": True} | options)


@dataclass_transform(kw_only_default=True, field_specifiers=(msgspec.field,))
class Shape(msgspec.Struct, metaclass=_ByName):
    """A document or a part of one, in the order of its fields. Those with their default, such as None, are left out."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Has pydantic describe it as a TypedDict: a field with a default may be missing, and is never null."""
        hints = get_type_hints(cls, include_extras=True)
        fields = {
            field.encode_name: core_schema.typed_dict_field(
                handler.generate_schema(hints[field.name] if field.required else _without_none(hints[field.name])),
                required=field.required,
            )
            for field in msgspec.structs.fields(cls)
        }
        return core_schema.typed_dict_schema(fields, cls=cls, ref=f"{cls.__module__}.{cls.__qualname__}")


def _without_none(hint: Any) -> Any:
    kinds = get_args(hint)
    return kinds[0] if len(kinds) == 2 and kinds[1] is type(None) else hint
