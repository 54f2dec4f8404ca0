"""Prometheus' text format for what is too much to hold in memory at once (version 0.0.4 of the format)."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

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
