"""Durations as people write them, and as the reference shows them."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limes.app.settings import Settings, parse
from limes.app.settings.processes import CollectorSettings
from limes.kernel.errors import ConfigError
from limes.kernel.validation.durations import is_duration, read_duration, say_duration
from limes.placement.settings import PlacementBounds

BASE = {"availability_zones": ["az-one"], "services": [{"service_type": "compute", "type": "static"}]}


def settings(section: str, **values: Any) -> Settings:
    return parse({**BASE, section: values}, {}, Path())


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (300, 300),
        (0.5, 0.5),
        ("300", 300),
        ("500ms", 0.5),
        ("30s", 30),
        ("30m", 1800),
        ("5 min", 300),
        ("2h", 7200),
        ("1h 30m", 5400),
        ("1 hour, 30 minutes", 5400),
        ("7 days", 604800),
        ("2w", 1209600),
        ("5 years", 157680000),
        ("1.5 h", 5400),
        (" 3 Days ", 259200),
    ],
)
def test_durations(text: Any, seconds: float) -> None:
    assert read_duration(text) == seconds
    assert settings("collector", lease=text).collector.lease == seconds


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ("soon", "expected a number of seconds, or an amount with a unit such as 30s, 5m, 2h, 7 days or 1 year, not"),
        ("5 fortnights", "there is no unit 'fortnights'; expected a number of seconds"),
        ("3 months", "months differ in length; give days, such as 90 days"),
        ("h", "expected a number of seconds"),
        ("5m!", "expected a number of seconds"),
        ("-5m", "expected a number of seconds"),
        ("inf", "expected a number of seconds"),
        (True, "expected a number of seconds"),
        ([5], "expected a number of seconds"),
        ("0s", "expected more than 0, not '0s'"),
    ],
)
def test_what_is_no_duration(wrong: Any, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        settings("collector", lease=wrong)
    assert str(caught.value).startswith(f"collector.lease: {problem}")


def test_zero_where_it_means_something() -> None:
    assert settings("collector", service_grace="0").collector.service_grace == 0
    assert settings("commitments", self_delete_grace=0).commitments.self_delete_grace == 0
    assert settings("placement", cors={"max_age": "1h"}).placement.cors.max_age == 3600
    assert settings("placement", bounds={"search_seconds": "5s"}).placement.bounds.search_seconds == 5


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (157680000.0, "5 years"),
        (2592000.0, "30 days"),
        (86400, "1 day"),
        (5400, "90 minutes"),
        (7200, "2 hours"),
        (1, "1 second"),
        (90.5, "90.5 seconds"),
        (0, "0"),
    ],
)
def test_saying_durations(seconds: float, text: str) -> None:
    assert say_duration(seconds) == text


@given(st.integers(0, 100 * 365 * 86400))
def test_what_is_said_can_be_read(seconds: int) -> None:
    assert read_duration(say_duration(seconds)) == seconds


def test_settings_tell_whether_they_are_durations() -> None:
    fields = CollectorSettings.model_fields
    assert is_duration(fields["lease"])
    assert is_duration(fields["service_grace"])
    assert is_duration(PlacementBounds.model_fields["search_seconds"])
    assert not is_duration(fields["threads"])
