"""Units: exact or refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limes.kernel.units import MAX_AMOUNT, Unit, UnitError, convert, parse_value


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        (150, "GiB", Unit.MIB, 153600),
        (1024, "KiB", Unit.MIB, 1),
        (5, "", Unit.COUNT, 5),
        (0, "EiB", Unit.BYTES, 0),
        (1, "PiB", Unit.BYTES, 2**50),
    ],
)
def test_convert(value: int, source: str, target: Unit, expected: int) -> None:
    assert convert(value, source, target) == expected


@pytest.mark.parametrize(
    ("value", "source", "target", "message"),
    [
        (1, "MiB", Unit.COUNT, "cannot convert value from MiB to <count> because units are incompatible"),
        (1, "", Unit.MIB, "cannot convert value from <count> to MiB because units are incompatible"),
        (1, "parsec", Unit.MIB, "cannot convert value from parsec to MiB because units are incompatible"),
        (1, "KiB", Unit.MIB, "value of 1 KiB cannot be represented as integer number of MiB"),
        (16, "EiB", Unit.MIB, None),
        (8, "EiB", Unit.BYTES, f"value of 8 EiB is too large: the maximum is {2**63 - 2} B"),
    ],
)
def test_convert_refuses(value: int, source: str, target: Unit, message: str | None) -> None:
    if message is None:
        # the original wrapped at 64 bits and stored 0
        assert convert(value, source, target) == 16 * 2**40
        return
    with pytest.raises(UnitError) as caught:
        convert(value, source, target)
    assert str(caught.value) == message


@given(st.integers(0, MAX_AMOUNT), st.sampled_from(list(Unit)[1:]), st.sampled_from(list(Unit)[1:]))
def test_conversion_is_exact_both_ways(value: int, source: Any, target: Any) -> None:
    try:
        converted = convert(value, source.value, target)
    except UnitError:
        assert value * source.multiplier % target.multiplier or value * source.multiplier > (
            MAX_AMOUNT * target.multiplier
        )
    else:
        assert converted * target.multiplier == value * source.multiplier


@pytest.mark.parametrize("text", ["10 GiB", "10GiB", " 10  GiB "])
def test_parse_value_with_unit(text: str) -> None:
    assert parse_value(text, Unit.MIB) == 10240


@pytest.mark.parametrize(
    ("text", "unit"),
    [("10", Unit.MIB), ("10 GiB", Unit.COUNT), ("-1", Unit.COUNT), ("x", Unit.BYTES), ("1.5 GiB", Unit.MIB)],
)
def test_parse_value_refuses(text: str, unit: Unit) -> None:
    with pytest.raises(UnitError):
        parse_value(text, unit)
