"""Answers as bytes: JSON by orjson and msgspec, which have ten times the speed of the standard library; CSV for
spreadsheets and billing systems (RFC 4180, UTF-8), made row by row; and gzip, for clients that accept it.

Level 1 makes JSON and metrics 5 to 15 times smaller in a few milliseconds a megabyte; level 6 takes three times as long
for a fifth less. Small answers stay as they are: they fit into a packet anyway.

The length of a compressed answer tells something about a secret if an attacker can put words beside it (BREACH).
Another page cannot forge requests with a token, so the API's answers are safe. Answers to requests with cookies
(`/ui/session`) must not be compressed: they are left out by path.
"""

import csv
import io
import json
import zlib
from collections.abc import Container, Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import falcon
import falcon.media
import msgspec
import orjson
from falcon import mediatypes

from limes.kernel.validation.shape import Shape
from limes.web.call import BodyStream
from limes.web.packed import accepts_gzip

MAX_SHOWN = 2**64 - 1
"""The largest number in an answer: clients read unsigned integers of 64 bits."""

_DIGITS_ALONE = bytes(ord("0") if chr(byte).isdigit() and byte < 128 else 0 for byte in range(256))
_TWENTY_DIGITS = b"0" * 20
"""Longer numbers are rare; to look for them this way takes half the time of a regular expression."""
CSV = "text/csv; charset=utf-8"
_STARTS_OF_FORMULAS = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""Spreadsheets take a cell that begins with one of these for a formula. The last four are wide forms of the first."""
SMALLEST = 1024
"""Bytes below which an answer is not worth it."""
_LEVEL = 1
_GZIP = 31


def install_json(app: falcon.App[Any, Any]) -> None:
    handler = falcon.media.JSONHandler(dumps=orjson.dumps, loads=orjson.loads)
    app.req_options.media_handlers[falcon.MEDIA_JSON] = handler
    app.resp_options.media_handlers[falcon.MEDIA_JSON] = handler


def dump(document: Any) -> bytes:
    """Returns a document as JSON with a trailing newline, as the original answers. A total that is larger than clients
    can read is cut to the largest number that they can."""
    if isinstance(document, Shape):
        data = msgspec.json.encode(document)
        # msgspec writes numbers of any length
        if _TWENTY_DIGITS in data.translate(_DIGITS_ALONE):
            data = orjson.dumps(_readable(json.loads(data)))
        return data + b"\n"
    try:
        return orjson.dumps(document, _fragment, orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        return orjson.dumps(_readable(document), _fragment, orjson.OPT_APPEND_NEWLINE)


def dump_part(document: Any) -> bytes:
    """Returns a part of a document. No number in it is too large for clients."""
    return msgspec.json.encode(document)


def dump_texts(texts: Sequence[str]) -> Sequence[str]:
    """Returns what each text is in JSON, between its quotes."""
    if b"\\" not in dump_part(texts):  # JSON has nothing else before what cannot stay as it is
        return texts
    return [dump_part(text).decode()[1:-1] for text in texts]


def _fragment(part: Any) -> orjson.Fragment:
    if isinstance(part, Shape):
        return orjson.Fragment(msgspec.json.encode(part))
    raise TypeError(f"{type(part)} is not JSON")


def _readable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _readable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_readable(item) for item in value]
    return min(value, MAX_SHOWN) if isinstance(value, int) and not isinstance(value, bool) else value


def prefers_csv(accept: str | None) -> bool:
    """Returns whether a client that sends this `Accept` would rather have CSV than JSON. In doubt: JSON."""
    try:
        return mediatypes.best_match([falcon.MEDIA_JSON, "text/csv"], accept or "*/*") == "text/csv"
    except falcon.InvalidMediaType:
        return False


def write_csv_row(cells: Iterable[object]) -> bytes:
    """Returns one row. None becomes an empty cell, a list or dictionary its JSON. Text that a spreadsheet would run as
    a formula gets an apostrophe in front: names come from users. Numbers stay as they are."""
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


def compress(body: bytes) -> bytes:
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
    return packer.compress(body) + packer.flush()


def compress_parts(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yields a body in gzip's format while it is made. Each part can be read as soon as it has arrived. If a part
    fails, so does this: the end that gzip's format demands is missing then."""
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
    for part in parts:
        yield packer.compress(part) + packer.flush(zlib.Z_SYNC_FLUSH)
    yield packer.flush()


class CompressionMiddleware(msgspec.Struct, frozen=True, kw_only=True):
    """Compresses answers of `SMALLEST` bytes or more, and answers that are made while they are sent. Entity tags stay
    as they are: ours stand for quotas and not for bytes, and go with `no-store`."""

    is_on: bool
    without: Container[str] = frozenset()

    def process_response(self, req: falcon.Request, resp: falcon.Response, resource: object, ok: bool) -> None:
        if not self.is_on or req.path in self.without or resp.get_header("content-encoding"):
            return
        body, stream = resp.render_body(), resp.stream
        if (body is None and not isinstance(stream, BodyStream)) or (body is not None and len(body) < SMALLEST):
            return
        resp.append_header("vary", "Accept-Encoding")
        if not accepts_gzip(req.get_header("Accept-Encoding")):
            return
        resp.set_header("content-encoding", "gzip")
        if body is not None:
            resp.text = None
            resp.data = compress(body)
        elif isinstance(stream, BodyStream):
            stream.encode(compress_parts)
