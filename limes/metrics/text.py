"""Prometheus' text format for what is too much to hold in memory at once (version 0.0.4 of the format)."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

Samples = Iterable[tuple[str, float]]
"""Pairs of labels, as `labels` gives them, and value."""

_LINES_AT_ONCE = 1000
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def labels(values: Mapping[str, str]) -> str:
    """Returns labels as they stand between the braces, in the given order: `project="shop",service="compute"`."""
    return ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in values.items())


def gauge(name: str, help_text: str, samples: Samples) -> Iterator[bytes]:
    """Yields one family in chunks of many lines."""
    yield f"# HELP {name} {help_text}\n# TYPE {name} gauge\n".encode()
    lines = (f"{name}{{{inside}}} {value}\n" for inside, value in samples)
    while chunk := "".join(islice(lines, _LINES_AT_ONCE)):
        yield chunk.encode()
