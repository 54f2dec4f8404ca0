"""What the tests of the pages take for the same, and what not."""

import pytest

from tests.docs.matching import agrees
from tests.docs.transcript import Step, steps_of

SAME = [
    ("a\nb\n", "a\nb"),
    ("a  |  b", "a | b  "),
    ("a ... d", "a b c d"),
    ("a\n...\nd", "a\nb\nc\nd"),
    ("a\n...\nd", "a\nd"),
    ("at 2026-01-01T00:00:00Z, 12s old", "at 2031-12-24T23:59:59Z, 4m 51s old"),
    ('{"at": 1767225600}', '{"at": 1803333333}'),
    ('{"id": "...", "n": [1, "..."]}', '{"id": {"a": 1}, "n": [1, 2, 3]}'),
    ('{"a": 1, "...": "..."}', '{"a": 1, "b": 2}'),
    ('{"a":"b",\n "c":1}', '{"c":1,"a":"b"}'),
    ("", "\n"),
]
OTHER = [
    ("a\nb", "a"),
    ("a", "a\nb"),
    ("", "error"),
    ("a.c", "abc"),
    ("a ... d", "a b\nc d"),
    ('{"a": 1}', '{"a": 1, "b": 2}'),
    ('{"a": 1, "b": 2}', '{"a": 1}'),
    ('{"a": [1, 2]}', '{"a": [1]}'),
    ('{"a": 20}', '{"a": 21}'),
    ('{"at": 1767225600}', '{"at": 17}'),
    ('{"a": 1}', "no JSON"),
]


@pytest.mark.parametrize(("shown", "real"), SAME)
def test_the_same(shown: str, real: str) -> None:
    assert agrees(shown, real)


@pytest.mark.parametrize(("shown", "real"), OTHER)
def test_something_else(shown: str, real: str) -> None:
    assert not agrees(shown, real)


def test_transcripts() -> None:
    text = "$ one \\\n  more\n$ two '\n> {}'\nout\n> put\n$ three\n"
    assert steps_of(text, 5) == [
        Step(5, "one \\\n  more", ""),
        Step(7, "two '\n{}'", "out\n> put\n"),
        Step(11, "three", ""),
    ]
