"""Reads the Accept header. Media types have no case, and a list may have empty entries."""

from functools import lru_cache
from typing import Literal

from falcon import MEDIA_HTML, MEDIA_JSON
from falcon.util import mediatypes

ErrorType = Literal["json", "html", "text"]


@lru_cache(maxsize=256)
def accepts_json(header: str) -> bool:
    """Returns whether the client accepts JSON. A header that cannot be parsed accepts everything, as upstream."""
    ranges = _ranges(header)
    return not _is_readable(ranges) or mediatypes.quality(MEDIA_JSON, ranges) > 0


@lru_cache(maxsize=256)
def error_type(header: str) -> ErrorType:
    """Returns the form of errors: JSON if the client does not say, else its preference; text if it accepts neither."""
    if header == "*/*":
        return "json"
    ranges = _ranges(header)
    if not _is_readable(ranges):
        return "html"
    best: dict[str, ErrorType] = {MEDIA_HTML: "html", MEDIA_JSON: "json"}
    return best.get(mediatypes.best_match(best, ranges), "text")


def _ranges(header: str) -> str:
    return ",".join(entry for entry in header.lower().split(",") if entry.strip()) or header


def _is_readable(ranges: str) -> bool:
    try:
        mediatypes.quality(MEDIA_JSON, ranges)
    except ValueError:
        return False
    return True
