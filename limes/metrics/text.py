"""Prometheus' text format for what is too much to hold in memory at once (version 0.0.4 of the format)."""

import logging
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import IO, Any

from limes.errors import Unavailable

log = logging.getLogger(__name__)

_IN_MEMORY = 4 * 1024 * 1024
_LINES_AT_ONCE = 1000
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def labels(values: Mapping[str, str]) -> str:
    """Returns labels as they stand between the braces, in the given order: `project="shop",service="compute"`."""
    return ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in values.items())


def gauge(name: str, help_text: str, samples: Iterable[tuple[str, float]]) -> Iterator[bytes]:
    """One family in chunks of many lines. `samples` are pairs of labels (as `labels` gives them) and value."""
    yield f"# HELP {name} {help_text}\n# TYPE {name} gauge\n".encode()
    lines = (f"{name}{{{inside}}} {value}\n" for inside, value in samples)
    while chunk := "".join(islice(lines, _LINES_AT_ONCE)):
        yield chunk.encode()


def spool(own: bytes, write_data: Callable[[IO[bytes]], None] | None) -> IO[bytes]:
    """Both in one file, which goes to disk if it is large. If the database fails during `write_data`, all that it has
    written is left out: half of it would look as if projects had vanished."""
    file: Any = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - whoever sends it closes it
    file.write(own)
    if write_data is not None:
        try:
            write_data(file)
        except Unavailable as error:
            log.error("data metrics: %s", error)
            file.seek(len(own))
            file.truncate()
    return file  # type: ignore[no-any-return]  # typeshed does not know that it is an IO[bytes]
