"""Query arguments and headers. Each is described once, for the code that reads it and for the OpenAPI document."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar, Literal

import falcon
from msgspec import Struct

from limes.kernel.errors import BadRequest

Schema = Mapping[str, Any]
_LATEST_TIME = int(datetime(9999, 12, 1, tzinfo=UTC).timestamp()) - 1
"""So that the month after it can be a date as well."""
MAX_LIMIT = 1000
AUTO = "auto"


def values_of(req: falcon.Request, name: str) -> list[str] | None:
    """Returns all values of a query argument; None if it is not there. Raises `BadRequest` for NUL, which PostgreSQL
    does not have."""
    if name not in req.params:
        return None
    value = req.params[name]
    values = value if isinstance(value, list) else [value]
    if any("\0" in each for each in values):
        raise BadRequest(f"query parameter {name}: expected a text without NUL")
    return values


class _Query(Struct, frozen=True):
    place: ClassVar[Literal["query"]] = "query"
    name: str
    description: str

    def schema(self) -> Schema:
        return {"type": "string"}

    def last(self, req: falcon.Request) -> str | None:
        values = values_of(req, self.name)
        return values[-1] if values else None

    def refuse(self, expected: str) -> BadRequest:
        return BadRequest(f"query parameter {self.name}: expected {expected}")


class Names(_Query, frozen=True):
    """A query argument that may be repeated. An empty value selects nothing."""

    def of(self, req: falcon.Request) -> list[str] | None:
        return values_of(req, self.name)

    def schema(self) -> Schema:
        return {"type": "array", "items": {"type": "string"}}


class Flag(_Query, frozen=True):
    """A query argument whose presence counts, not its value."""

    def of(self, req: falcon.Request) -> bool:
        return self.name in req.params


class YesOrNo(_Query, frozen=True):
    """A query argument that is on if it is there, unless its value says no."""

    def of(self, req: falcon.Request) -> bool:
        values = values_of(req, self.name)
        word = values[-1] if values else "false" if values is None else "true"
        if word not in ("", "true", "false"):
            raise self.refuse("true or false")
        return word != "false"

    def schema(self) -> Schema:
        return {"type": "string", "enum": ["", "true", "false"], "default": "false"}


class WholeNumber(_Query, frozen=True):
    """A whole number in the query. If it is repeated, the last one counts."""

    minimum: int
    maximum: int
    default: int | None = None

    def of(self, req: falcon.Request) -> int:
        text = self.last(req)
        return self.default or 0 if text is None else self.read(text)

    def read(self, text: str) -> int:
        well_formed = text.isascii() and text.isdigit() and len(text) <= 20
        if not well_formed or not self.minimum <= int(text) <= self.maximum:
            raise self.refuse(f"a whole number from {self.minimum} to {self.maximum}")
        return int(text)

    def schema(self) -> Schema:
        schema = {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}
        return schema if self.default is None else schema | {"default": self.default}


class Text(_Query, frozen=True):
    of = _Query.last


class Moment(_Query, frozen=True):
    """A time in the query, as a date, a date with a time (ISO 8601; UTC unless it says otherwise), or UNIX time."""

    def of(self, req: falcon.Request) -> int | None:
        """Its last value in whole seconds since the epoch; None if it is not there. Raises `BadRequest`."""
        text = self.last(req)
        return None if text is None else self.read(text)

    def read(self, text: str) -> int:
        try:
            if text.isascii() and text.isdigit() and len(text) <= 12:
                time = int(text)
            else:  # "+" means a space in a query
                moment = datetime.fromisoformat(text.replace(" ", "+") if text.count(":") > 2 else text)
                time = int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
        except (ValueError, OverflowError):
            raise self.refuse("a time such as 2026-11-01, 2026-11-01T12:00:00Z or 1793534400") from None
        if not 0 <= time <= _LATEST_TIME:
            raise self.refuse("a time between 1970-01-01 and 9999-11-30")
        return time

    def schema(self) -> Schema:
        return {"type": "string", "examples": ["2026-11-01", "2026-11-01T12:00:00Z", "1793534400"]}


class Choice(_Query, frozen=True):
    words: tuple[str, ...]
    default: str

    def of(self, req: falcon.Request) -> str:
        word = self.last(req)
        if word is None:
            return self.default
        if word not in self.words:
            raise self.refuse(f"one of {', '.join(self.words)}")
        return word

    def schema(self) -> Schema:
        return {"type": "string", "enum": list(self.words), "default": self.default}


class Header(Struct, frozen=True):
    place: ClassVar[Literal["header"]] = "header"
    name: str
    description: str
    pattern: str | None = None

    def of(self, req: falcon.Request) -> str | None:
        return req.get_header(self.name)

    def schema(self) -> Schema:
        return {"type": "string"} if self.pattern is None else {"type": "string", "pattern": self.pattern}


Parameter = Names | Flag | YesOrNo | WholeNumber | Text | Moment | Choice | Header


SERVICE = Names("service", "Only services of these types. A name that does not exist selects nothing.")
AREA = Names("area", "Only services in these areas.")
RESOURCE = Names("resource", "Only resources of these names.")
LIMIT = WholeNumber("limit", "Maximum number of items. The answer links to the next page.", 1, MAX_LIMIT)
MARKER = Text("marker", "Only items after the one of this id. Goes with `limit` only.")
PER_AZ = YesOrNo("per_az", "Break down by availability zone.")
AHEAD = WholeNumber("days", "How many days to look ahead.", 1, 3660, 30)
CLUSTER = Header("X-Limes-Cluster-Id", "Nothing but `current`.", "^(current)?$")
IF_MATCH = Header("If-Match", "Refuse with 412 if the quotas are not those of one of these entity tags any more.")
IF_NONE_MATCH = Header("If-None-Match", "Answer 304 if the quotas are still those of one of these entity tags.")
