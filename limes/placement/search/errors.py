"""The one way in which a query can be refused."""

from limes.errors import BadRequest

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
    """An error in the form that Placement's clients know: `Invalid query string parameters: ...`."""
    return QueryError(f"Invalid query string parameters: {message}")
