"""How far an import is, where nobody looks at a terminal."""

import pytest

from limes.app.commands.terminal import progress


def test_a_line_for_each_tenth_and_one_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress("reading", range(2000), 2000)) == list(range(2000))
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["reading: 200 of 2000", "reading: 400 of 2000"]
    assert lines[-2:] == ["reading: 1800 of 2000", "reading: 2000"]


def test_a_few_items_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress("writing", iter("abc"), 3)) == ["a", "b", "c"]
    assert capsys.readouterr().err == "writing: 3\n"


def test_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress("writing", [], 0)) == []
    assert capsys.readouterr().err == "writing: 0\n"
