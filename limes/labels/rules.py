"""What labels may be, and what lists are filtered by. Pure functions."""

import re
from collections.abc import Mapping
from typing import Annotated, NamedTuple

from pydantic import Field

MOST = 20
"""Labels of a project, and of those that a list is filtered by."""
LONGEST_VALUE = 255
_KEY = re.compile(r"[a-z0-9][a-z0-9_.-]{0,62}")
KEY = "1 to 63 of a-z, 0-9, _, . and -, beginning with a letter or digit"
"""What a key is, for people."""
Labels = Annotated[
    dict[str, str],
    Field(description=f"values by key, at most {MOST}; a key is {KEY}, a value has at most {LONGEST_VALUE} characters"),
]
_SHOWN = 80
"""As many characters of a wrong key are shown."""


class Wanted(NamedTuple):
    """A label that projects of a list have."""

    key: str
    value: str | None
    """None: any."""


def read_wanted(text: str) -> Wanted | None:
    """Reads `key` or `key:value`. None if the key can be none."""
    key, colon, value = text.partition(":")
    return Wanted(key, value if colon else None) if _KEY.fullmatch(key) else None


def problems(labels: Mapping[str, str]) -> list[str]:
    """Returns why a project cannot have these labels, with a line for each problem; nothing if it can."""
    if len(labels) > MOST:
        return [f"a project has at most {MOST} labels, and these are {len(labels)}"]
    wrong_keys = [f"label {key[:_SHOWN]!r}: a key is {KEY}" for key in labels if not _KEY.fullmatch(key)]
    wrong_values = [f"label {key}: {why}" for key, value in labels.items() if (why := _problem(value))]
    return wrong_keys or wrong_values


def _problem(value: str) -> str:
    if len(value) > LONGEST_VALUE:
        return f"a value has at most {LONGEST_VALUE} characters, and this one has {len(value)}"
    return "" if value.isprintable() else "control characters are not allowed in a value"
