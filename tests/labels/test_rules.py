"""Which labels are possible, and which ones a list can be filtered by."""

import pytest

from limes.labels.rules import Wanted, problems, read_wanted

KEY = "1 to 63 of a-z, 0-9, _, . and -, beginning with a letter or digit"


@pytest.mark.parametrize("key", ["a", "0", "env", "a.b_c-d", "a" * 63])
def test_possible_keys(key: str) -> None:
    assert problems({key: "x"}) == []
    assert read_wanted(key) == Wanted(key, None)
    assert read_wanted(f"{key}:x:y") == Wanted(key, "x:y")
    assert read_wanted(f"{key}:") == Wanted(key, "")


@pytest.mark.parametrize("key", ["", "Env", ".a", "_a", "-a", "a b", "a\n", "ä", "²", "a" * 64])
def test_other_keys(key: str) -> None:
    assert problems({key: "x"}) == [f"label {key!r}: a key is {KEY}"]
    assert read_wanted(key) is read_wanted(f"{key}:x") is None


@pytest.mark.parametrize("value", ["", "prod", "web team: blue/green", "ü €", "x" * 255])
def test_possible_values(value: str) -> None:
    assert problems({"env": value}) == []


@pytest.mark.parametrize("value", ["a\nb", "\t", "\0", "\x7f", "\u2028"])
def test_control_characters(value: str) -> None:
    assert problems({"env": value}) == ["label env: control characters are not allowed in a value"]


def test_how_many_and_how_long() -> None:
    assert problems({f"key-{number}": "" for number in range(20)}) == []
    too_many = problems({f"key-{number}": "" for number in range(21)})
    assert too_many == ["a project has at most 20 labels, and these are 21"]
    assert problems({"env": "x" * 256}) == ["label env: a value has at most 255 characters, and this one has 256"]


def test_each_problem_has_a_line_and_long_keys_are_cut() -> None:
    assert [line.partition(":")[0] for line in problems({"A" * 9999: "", "ok": "", "B": ""})] == [
        f"label {'A' * 80!r}",
        "label 'B'",
    ]
