"""Whether a real output is the one that a page shows.

In text, `...` stands for anything within a line, and a line that is nothing but `...` for any number of lines. In JSON,
`"..."` stands for any value, and for any further items or keys where it is the last one. Moments are moments and
durations durations, whichever is shown.
"""

import json
import re
from typing import Any

_TIMES = {
    "\0": re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)?)?\b"),
    "\1": re.compile(r"\b\d+[dhms](?: \d+[hms])?\b"),
}
"""Moments and durations, each with the character that stands for it meanwhile."""
_ANYTHING = "..."
_EPOCH = range(1_500_000_000, 5_000_000_000)
"""Numbers that are taken for seconds since the epoch."""


def agrees(shown: str, real: str) -> bool:
    """Whether `real` is as `shown` says."""
    try:
        return _same(json.loads(_joined(shown)), json.loads(real))
    except ValueError:
        return _pattern(shown).fullmatch(_lines(real)) is not None


def _joined(shown: str) -> str:
    """Pages break long lines of JSON where they like."""
    return "".join(line.strip() if line.startswith(" ") else line for line in shown.splitlines())


def _same(shown: Any, real: Any) -> bool:
    if shown == _ANYTHING:
        return True
    if isinstance(shown, dict) and isinstance(real, dict):
        open_ended = _ANYTHING in shown
        keys = shown.keys() - {_ANYTHING}
        fits = keys <= real.keys() if open_ended else keys == real.keys()
        return fits and all(_same(shown[key], real[key]) for key in keys)
    if isinstance(shown, list) and isinstance(real, list):
        if shown and shown[-1] == _ANYTHING:
            shown, real = shown[:-1], real[: len(shown) - 1]
        return len(shown) == len(real) and all(map(_same, shown, real))
    if isinstance(shown, str) and isinstance(real, str):
        return _pattern(shown).fullmatch(_lines(real)) is not None
    if isinstance(shown, int) and isinstance(real, int) and shown in _EPOCH:
        return real in _EPOCH
    return bool(shown == real)


def _lines(text: str) -> str:
    """With one space where there are several, and one dash: columns are as wide as what is in them."""
    squeezed = re.sub(r"(─)─+|(-)--+", r"\1\2", re.sub(r"[ \t]+", " ", text.strip("\n")))
    return "".join(f"{line.strip()}\n" for line in squeezed.splitlines())


def _pattern(shown: str) -> re.Pattern[str]:
    """An expression for the shown text."""
    parts = []
    for line in _lines(shown).splitlines():
        if line == _ANYTHING:
            parts.append(r"(?:.*\n)*?")
            continue
        for mark, time in _TIMES.items():
            line = time.sub(mark, line)
        expression = ".*".join(map(re.escape, line.split(_ANYTHING)))
        for mark, time in _TIMES.items():
            expression = expression.replace(mark, time.pattern)
        parts.append(f"{expression}\n")
    return re.compile("".join(parts))
