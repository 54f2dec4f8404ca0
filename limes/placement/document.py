"""JSON with whole numbers of any size."""

import json
from typing import Any

import orjson


def dump(document: Any) -> bytes:
    """Returns a document as JSON, with whole numbers of any size.

    orjson writes no integer above 64 bits. A capacity can be larger: 2^31 units with an `allocation_ratio` of 3.4e38.
    The standard library writes those documents. It takes ten times as long, and they are rare.
    """
    try:
        return orjson.dumps(document)
    except orjson.JSONEncodeError:
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
