"""Bursting, capacity, low-privilege limits and durations."""

from datetime import UTC, datetime

import pytest

from limes.commitments.commitment import DurationError, parse_duration
from limes.kernel.units import Unit, UnitError, effective_capacity, effective_total
from limes.quota.rules import LowPrivLimit, burst_usage, parse_lowpriv_limit, usable_quota


@pytest.mark.parametrize(
    ("quota", "multiplier", "usable"),
    [(20, 0.2, 24), (5, 0.1, 5), (10, 0.1, 11), (100, 0, 100), (3, 1.1, 6), (30, 0.7, 51)],
)
def test_usable_quota(quota: int, multiplier: float, usable: int) -> None:
    assert usable_quota(quota, multiplier) == usable


def test_burst_usage() -> None:
    assert (burst_usage(12, 10), burst_usage(8, 10)) == (2, 0)


def test_overcommit_floors_each_az_and_the_total_on_its_own() -> None:
    assert [effective_capacity(raw, 1.5) for raw in (100, 101)] == [150, 151]
    assert effective_total([100, 101], 1.5) == 301
    assert effective_capacity(7, 0) == 7


@pytest.mark.parametrize(
    ("text", "unit", "limit"),
    [
        ("10 GiB", Unit.MIB, LowPrivLimit(amount=10240)),
        ("10", Unit.COUNT, LowPrivLimit(amount=10)),
        ("2.5% of cluster capacity", Unit.COUNT, LowPrivLimit(percent_of_capacity=2.5)),
        ("until 80% of cluster capacity is assigned", Unit.COUNT, LowPrivLimit(until_percent_assigned=80)),
    ],
)
def test_parse_lowpriv_limit(text: str, unit: Unit, limit: LowPrivLimit) -> None:
    assert parse_lowpriv_limit(text, unit, for_domains=True) == limit


@pytest.mark.parametrize(
    "text", ["101% of cluster capacity", "10", "many", "x% of cluster capacity", "1.2.3% of cluster capacity"]
)
def test_parse_lowpriv_limit_refuses(text: str) -> None:
    with pytest.raises(UnitError):
        parse_lowpriv_limit(text, Unit.MIB, for_domains=True)


def test_until_is_for_domains_only() -> None:
    with pytest.raises(UnitError):
        parse_lowpriv_limit("until 80% of cluster capacity is assigned", Unit.MIB, for_domains=False)


def test_lowpriv_limits_floor() -> None:
    assert LowPrivLimit(percent_of_capacity=0.1).evaluate(1999, 0) == 1
    assert LowPrivLimit(until_percent_assigned=50).evaluate(101, 20) == 30
    assert LowPrivLimit(until_percent_assigned=50).evaluate(100, 70) == 0


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("60 minutes", "1 hour"),
        ("1 year,3months", "1 year, 3 months"),
        ("18 months", "1 year, 6 months"),
        ("90 seconds", "1 minute, 30 seconds"),
        ("2 years", "2 years"),
    ],
)
def test_durations_have_one_form(text: str, canonical: str) -> None:
    assert str(parse_duration(text)) == canonical


@pytest.mark.parametrize("text", ["", "year", "0 days", "-1 year", "1 fortnight", "1 year 3 months", "99999 years"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(DurationError):
        parse_duration(text)


@pytest.mark.parametrize(
    ("start", "text", "end"),
    [
        ("2024-02-29", "2 years", "2026-02-28"),
        ("2024-02-29", "4 years", "2028-02-29"),
        ("2026-01-31", "1 month", "2026-02-28"),
        ("2026-12-01", "1 month", "2027-01-01"),
        ("2026-03-28", "1 day", "2026-03-29"),
    ],
)
def test_durations_follow_the_calendar(start: str, text: str, end: str) -> None:
    started = datetime.fromisoformat(start).replace(tzinfo=UTC)
    assert parse_duration(text).after(started) == datetime.fromisoformat(end).replace(tzinfo=UTC)
