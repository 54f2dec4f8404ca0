"""Amounts as people write and read them."""

import pytest
from limes_osc.values import AmountError, apply_change, exact, in_unit, parse_amount, rounded

from limes.kernel.units import Unit


@pytest.mark.parametrize(
    ("amount", "unit", "precise", "short"),
    [
        (0, Unit.MIB, "0 MiB", "0 MiB"),
        (1, Unit.COUNT, "1", "1"),
        (1_000_000, Unit.COUNT, "1000000", "1000000"),
        (1023, Unit.MIB, "1023 MiB", "1023 MiB"),
        (1024, Unit.MIB, "1 GiB", "1 GiB"),
        (1025, Unit.MIB, "1025 MiB", "1 GiB"),
        (1536, Unit.MIB, "1.5 GiB", "1.5 GiB"),
        (1100, Unit.GIB, "1100 GiB", "1.07 TiB"),
        (2**50, Unit.BYTES, "1 PiB", "1 PiB"),
        (2**56 + 1, Unit.BYTES, "72057594037927937 B", "64 PiB"),
        (-1, Unit.GIB, "unlimited", "unlimited"),
    ],
)
def test_for_people(amount: int, unit: Unit, precise: str, short: str) -> None:
    assert (exact(amount, unit), rounded(amount, unit)) == (precise, short)


def test_what_is_shown_exactly_can_be_typed_again() -> None:
    for amount in (0, 1, 1023, 1024, 1536, 1537, 204801, 3 * 2**30 + 2**20):
        assert parse_amount(exact(amount, Unit.MIB), Unit.MIB) == amount


@pytest.mark.parametrize(
    ("text", "present", "result"),
    [("+50%", 5, 7), ("-50%", 5, 3), ("+0.5%", 1000, 1005), ("-100%", 5, 0), (" 7 ", 5, 7), ("-5", 5, 0)],
)
def test_parts_are_rounded_towards_no_change(text: str, present: int, result: int) -> None:
    assert apply_change(text, present, Unit.COUNT) == result


@pytest.mark.parametrize("text", ["", "+", "-", "%", "+%", "10%", "+-5", "++5", "1e3", "5 5", "GiB", "٣"])
def test_no_amounts(text: str) -> None:
    with pytest.raises(AmountError):
        apply_change(text, 5, Unit.COUNT)


def test_larger_than_anything() -> None:
    with pytest.raises(AmountError, match="too large"):
        parse_amount("999999999EiB", Unit.MIB)


def test_a_unit_that_was_asked_for() -> None:
    assert in_unit(1536, Unit.MIB, Unit.GIB) == 1.5
    assert in_unit(1, Unit.GIB, Unit.MIB) == 1024
    assert isinstance(in_unit(2048, Unit.MIB, Unit.GIB), int)
    assert in_unit(-1, Unit.GIB, Unit.MIB) == -1
