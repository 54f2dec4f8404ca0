"""CSV for spreadsheets and billing systems (RFC 4180, UTF-8), made row by row."""

import csv
import io
from collections.abc import Generator, Iterable
from itertools import islice

import falcon
import orjson
from falcon import mediatypes

CSV = "text/csv; charset=utf-8"
"""The content type of our answers."""

_STARTS_OF_FORMULAS = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""Spreadsheets take a cell that begins with one of these for a formula. The last four are wide forms of the first."""


def prefers_csv(accept: str | None) -> bool:
    """Returns whether a client that sends this `Accept` would rather have CSV than JSON. In doubt: JSON."""
    try:
        return mediatypes.best_match([falcon.MEDIA_JSON, "text/csv"], accept or "*/*") == "text/csv"
    except falcon.InvalidMediaType:
        return False


def write_csv_row(cells: Iterable[object]) -> bytes:
    """Returns one row. None becomes an empty cell, a list or dictionary its JSON.

    Text that a spreadsheet would run as a formula gets an apostrophe in front: names come from users. Numbers stay as
    they are.
    """
    line = io.StringIO()
    csv.writer(line).writerow([_cell(value) for value in cells])
    return line.getvalue().encode()


def write_csv(
    header: Iterable[str], rows: Iterable[Iterable[object]], batch: int = 200
) -> Generator[bytes, None, None]:
    """Yields the header and the rows. At most `batch` rows are in memory at once."""
    yield write_csv_row(header)
    remaining = iter(rows)
    while lines := [write_csv_row(cells) for cells in islice(remaining, batch)]:
        yield b"".join(lines)


def _cell(value: object) -> object:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return f"'{text}" if text.lstrip(" ")[:1] in _STARTS_OF_FORMULAS else text
