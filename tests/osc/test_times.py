"""Times as people see them, and names that are nearly right."""

from argparse import ArgumentTypeError

import pytest
from limes_osc.columns import age
from limes_osc.names import suggest
from limes_osc.values import Moment, distance, duration, iso_after, read_time

NOW = 1767225600.0
HOUR, DAY = 3600, 86400


@pytest.mark.parametrize(
    ("seconds", "glance", "full"),
    [
        (NOW, "0s ago", "2026-01-01 00:00:00 UTC (0s ago)"),
        (NOW + 90, "in 1m 30s", "2026-01-01 00:01:30 UTC (in 1m 30s)"),
        (NOW - 5 * HOUR, "5h ago", "2025-12-31 19:00:00 UTC (5h ago)"),
        (NOW + 2 * DAY - 1, "in 1d 23h", "2026-01-02 23:59:59 UTC (in 1d 23h)"),
        (NOW + 2 * DAY, "2026-01-03", "2026-01-03 00:00:00 UTC (in 2d)"),
        (NOW - 400 * DAY, "2024-11-27", "2024-11-27 00:00:00 UTC (400d ago)"),
    ],
)
def test_moments(seconds: float, glance: str, full: str) -> None:
    moment = Moment(seconds)
    assert (moment.at_glance(NOW), moment.in_full(NOW)) == (glance, full)
    assert moment.to_the_second() == full.partition(" (")[0]


def test_programs_get_iso_8601() -> None:
    assert Moment(NOW + 0.75).machine_readable() == "2026-01-01T00:00:00Z"
    assert iso_after(NOW + 0.75) == "2026-01-01T00:00:01Z"
    assert age(125).machine_readable() == 125


def test_durations() -> None:
    assert [duration(seconds) for seconds in (0, 59.6, 3661, DAY, 9 * DAY + 61)] == ["0s", "1m", "1h 1m", "1d", "9d 1m"]
    assert age(125).human_readable() == "2m 5s"
    assert distance(NOW + 60, NOW) == "in 1m"


def test_later_moments_are_larger() -> None:
    assert Moment(NOW) < Moment(NOW + 1)


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("crores", ["cores", "ram", "gpus"], "did you mean cores?"),
        ("RAM", ["cores", "ram"], "did you mean ram?"),
        ("disk", ["cores", "ram"], "there are: cores, ram"),
        ("disk", [], "there are none"),
        ("disk", [f"n{number}" for number in range(30)], "there are 30 others"),
        ("local-disk", [*(f"n{number}" for number in range(30)), "local_disk"], "did you mean local_disk?"),
    ],
)
def test_suggestions(name: str, known: list[str], hint: str) -> None:
    assert suggest(name, known) == hint


@pytest.mark.parametrize(
    "text",
    ["1793534400000", "99999999999999999999", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "-5", ""],
)
def test_what_is_no_time(text: str) -> None:
    """Milliseconds, for example: the year 58000 can be neither meant nor shown."""
    with pytest.raises(ArgumentTypeError, match=r"is not a time .* or UNIX time in seconds\)"):
        read_time(text)


def test_times_in_all_forms() -> None:
    forms = ("1793534400", "2026-11-01T12:00:00Z", "2026-11-01T12:00", "2026-11-01T13:00:00+01:00")
    assert {read_time(text) for text in forms} == {1793534400}
    assert read_time("2026-11-01") == 1793534400 - 12 * 3600
