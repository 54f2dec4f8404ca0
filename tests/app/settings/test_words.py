"""Types and defaults of settings, as people say them."""

import re
from typing import Any, Literal

import pytest
from pydantic import Field

from limes.app.settings.document import all_rows, render_page, say_default, say_size, say_type
from limes.kernel.validation.durations import Seconds
from limes.kernel.validation.sections import ListenAddress, Name, Regex, Section, documented_fields


class Sample(Section):
    text: str = "a"
    flag: bool = True
    names: tuple[Name, ...] = ("one", "two")
    bounded: int = Field(default=8, ge=1, le=256)
    share: float = Field(default=2.0, gt=0)
    address: ListenAddress = "127.0.0.1:1"
    pattern: Regex | None = None
    choice: Literal["a", "b", "c"] = "a"
    mapping: dict[str, dict[str, str | int]] = {}
    anything: dict[str, Any] = {}
    long: Seconds = 157680000.0
    short: Seconds = 0.5
    nothing: str | None = None
    size: int = 10485760
    """Bytes of a body."""


@pytest.mark.parametrize(
    ("key", "type_", "default"),
    [
        ("text", "text", "a"),
        ("flag", "true or false", "true"),
        ("names", "list of names", "[one, two]"),
        ("bounded", "whole number from 1 to 256", "8"),
        ("share", "number above 0", "2"),
        ("address", "`HOST:PORT`", "127.0.0.1:1"),
        ("pattern", "regular expression", ""),
        ("choice", "`a`, `b` or `c`", "a"),
        ("mapping", "names, each with names with texts or whole numbers", ""),
        ("anything", "keys with values", ""),
        ("long", "duration", "5 years"),
        ("short", "duration", "0.5 seconds"),
        ("nothing", "text", ""),
    ],
)
def test_types_and_defaults(key: str, type_: str, default: str) -> None:
    field = Sample.model_fields[key]
    assert (say_type(field), say_default(field)) == (type_, default)


def test_bytes_are_shown_in_larger_units() -> None:
    assert say_size(documented_fields(Sample)["size"]) == "10 MiB"
    assert say_size(Sample.model_fields["bounded"]) == ""


PYTHON = re.compile(r"\bNone\b|\bTrue\b|\bFalse\b|\btuple\b|\bdict\b|\('|'\)|\d\.0\b(?!\.)|re\.compile|limes\.core")


def test_the_reference_has_nothing_of_python() -> None:
    assert [line for line in render_page().splitlines() if PYTHON.search(line.replace("127.0.0.1", ""))] == []
    rows = [row for row in all_rows() if PYTHON.search(f"{row.type} {row.default}".replace("127.0.0.1", ""))]
    assert rows == []


def test_what_is_a_number_of_seconds_is_shown_with_its_unit() -> None:
    defaults = {row.key: row.default for row in all_rows()}
    assert defaults["audit.history_retention"] == "5 years"
    assert defaults["collector.scrape_interval"] == "30 minutes"
