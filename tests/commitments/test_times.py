"""When commitments end and are renewed, by the calendar."""

import time
from datetime import UTC, datetime

import pytest
from msgspec import structs

from limes.commitments import commitment as life
from limes.commitments import reshaping
from limes.commitments.commitment import Status
from limes.kernel.errors import Conflict, Unprocessable
from tests.commitments.test_rules import DAY, make

FEBRUARY_29 = 1709164800.0
"""2024-02-29T00:00:00Z."""


def test_renewal() -> None:
    made = make(duration="1 year", expires_at=FEBRUARY_29)
    renewed = reshaping.renew(made, FEBRUARY_29 - DAY, "r", 90 * DAY)
    assert (renewed.status, renewed.confirm_by, renewed.confirmed_at) == (Status.PLANNED, FEBRUARY_29, None)
    assert renewed.expires_at == FEBRUARY_29 + 365 * DAY  # 2025-02-28
    assert reshaping.renew(made, FEBRUARY_29 - 90 * DAY, "r", 90 * DAY) == structs.replace(
        renewed, created_at=FEBRUARY_29 - 90 * DAY
    )
    with pytest.raises(Conflict, match="too early to renew commitment 1: possible from 2023-12-01T00:00:00"):
        reshaping.renew(made, FEBRUARY_29 - 90 * DAY - 1, "r", 90 * DAY)
    with pytest.raises(Conflict, match="only confirmed ones"):
        reshaping.renew(structs.replace(made, status=Status.PLANNED), FEBRUARY_29 - DAY, "r", 90 * DAY)


@pytest.mark.parametrize(
    ("begin", "duration", "days"),
    [
        ("2026-01-31", "1 month", ["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31", "2026-06-30"]),
        ("2026-01-30", "1 month", ["2026-02-28", "2026-03-30", "2026-04-30"]),
        ("2026-02-28", "1 month", ["2026-03-28", "2026-04-28"]),
        ("2028-02-29", "1 year", ["2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29", "2033-02-28"]),
        ("2026-08-31", "6 months", ["2027-02-28", "2027-08-31", "2028-02-29"]),
        ("2026-01-31", "1 month, 1 day", ["2026-03-01", "2026-04-02"]),
        ("2026-01-31", "1 month, 61 days", ["2026-04-30", "2026-07-30"]),  # which begins a new count
    ],
)
def test_renewals_count_months_from_the_first_begin(begin: str, duration: str, days: list[str]) -> None:
    start = datetime.fromisoformat(begin).replace(tzinfo=UTC).timestamp()
    times = {"created_at": start, "confirmed_at": start, "expires_at": life.end_of(start, duration)}
    made, ends = make(duration=duration, **times), []
    for _ in days:
        ends.append(datetime.fromtimestamp(made.expires_at, UTC).date().isoformat())
        renewed = reshaping.renew(made, made.expires_at - 1, "r", DAY)
        made = life.confirm(life.advance(renewed, made.expires_at), made.expires_at)
    assert ends == days


def test_the_hosts_time_zone_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """In Tokyo, the last hours of 31 January are in February already."""
    start = datetime(2026, 1, 31, 20, tzinfo=UTC).timestamp()
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        end = life.end_of(start, "1 month")
        made = make(duration="1 month", created_at=start, confirmed_at=start, expires_at=end)
        renewed = reshaping.renew(made, end - 1, "r", DAY)
    time.tzset()
    days = [datetime(2026, month, day, 20, tzinfo=UTC).timestamp() for month, day in ((2, 28), (3, 31))]
    assert [end, renewed.expires_at] == days


def test_a_longer_renewal_counts_from_the_first_begin_too() -> None:
    start = datetime(2026, 1, 31, tzinfo=UTC).timestamp()
    times = {"created_at": start, "confirmed_at": start, "expires_at": life.end_of(start, "1 month")}
    made = make(duration="1 month", **times)
    renewed = reshaping.renew(made, made.expires_at - 1, "r", DAY)
    longer = reshaping.change_duration(renewed, "2 months", made.expires_at - 1)
    assert datetime.fromtimestamp(longer.expires_at, UTC) == datetime(2026, 4, 30, tzinfo=UTC)


def test_another_duration_counts_from_the_same_start() -> None:
    made = make(created_at=5 * DAY, confirmed_at=DAY, expires_at=11 * DAY)  # a part that was split off on day 5
    assert reshaping.change_duration(made, "20 days", 6 * DAY).expires_at == 21 * DAY
    with pytest.raises(Unprocessable, match="would end the commitment earlier"):
        reshaping.change_duration(made, "9 days", 6 * DAY)


@pytest.mark.parametrize(
    ("start", "duration", "end"),
    [
        (FEBRUARY_29, "2 years", 1772236800.0),  # 2026-02-28
        (FEBRUARY_29, "4 years", 1835395200.0),  # 2028-02-29
        (1706659200.0, "1 month", FEBRUARY_29),  # from 31 January
        (FEBRUARY_29 + 0.5, "1 day", FEBRUARY_29 + DAY + 0.5),
    ],
)
def test_the_calendar(start: float, duration: str, end: float) -> None:
    assert life.end_of(start, duration) == end
