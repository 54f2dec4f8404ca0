"""The raw query string as pairs of key and value, in the order in which they were written, and how it is refused."""

from collections.abc import Sequence
from urllib.parse import parse_qsl

from limes.errors import BadRequest

MAX_PARAMETERS = 1000

Pairs = Sequence[tuple[str, str]]


def parse_pairs(query_string: str) -> list[tuple[str, str]]:
    """Decodes `a=1&b=2` (`;` separates as well). A key without value has the empty string.

    Raises `QueryError` when it is not UTF-8 or has more than `MAX_PARAMETERS` parameters.
    """
    text = query_string.replace(";", "&")
    if text.count("&") >= MAX_PARAMETERS:
        raise QueryError(f"The query string has too many parameters: at most {MAX_PARAMETERS} are accepted.")
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError as error:
        raise invalid(str(error)) from None


def last_values(pairs: Pairs) -> dict[str, str]:
    """Returns each key with its last value, which is what the schemas are applied to."""
    return dict(pairs)


def values_of(pairs: Pairs, key: str) -> list[str]:
    """Returns all values of one key, in the order in which they were written."""
    return [value for name, value in pairs if name == key]


UNDEFINED = "placement.undefined_code"
BAD_VALUE = "placement.query.bad_value"
MISSING_VALUE = "placement.query.missing_value"
DUPLICATE_KEY = "placement.query.duplicate_key"


class QueryError(BadRequest):
    """A query string that cannot be answered. `code` is the error code that clients see from microversion 1.23."""

    def __init__(self, message: str, code: str = UNDEFINED) -> None:
        super().__init__(message)
        self.code = code


def invalid(message: str) -> QueryError:
    """Returns an error in the form that Placement's clients know: `Invalid query string parameters: ...`."""
    return QueryError(f"Invalid query string parameters: {message}")
