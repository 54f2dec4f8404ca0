"""The account of usage and commitments, compared with one that counts second by second."""

import itertools
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limes.kernel.calendar import (
    DAY,
    HOUR,
    Granularity,
    begins_bucket,
    buckets,
    day_of,
    month_of,
    next_month,
    previous_month,
)
from limes.metering.rules import (
    Account,
    CommittedTime,
    Gap,
    Step,
    Zone,
    add,
    add_zones,
    constant,
    integrate,
    integrate_zones,
)

END = 40
times = st.integers(0, END)
spans = st.tuples(times, times).filter(lambda pair: pair[0] < pair[1])


def count(
    begin: int, end: int, usage: int, steps: list[Step], gaps: list[Gap], committed: list[CommittedTime]
) -> Account:
    """Looks at each second."""
    used = in_commitments = beyond = unknown = 0
    known = []
    for now in range(begin, end):
        usage = next((step.usage for step in steps if step.at == now), usage)
        amount = sum(each.amount for each in committed if each.begin <= now < each.end)
        in_commitments += amount
        if any(gap.begin <= now < gap.end for gap in gaps):
            unknown += 1
            continue
        used += usage
        beyond += max(usage - amount, 0)
        known.append(usage)
    smallest, largest = (min(known), max(known)) if known else (None, None)
    return Account(used, in_commitments, beyond, unknown, smallest, largest, usage)


histories = st.tuples(
    st.integers(0, 5),
    st.lists(st.builds(Step, times, st.integers(0, 5)), max_size=6, unique_by=lambda step: step.at).map(sorted),
    st.lists(spans.map(lambda pair: Gap(*pair)), max_size=3),
    st.lists(st.builds(lambda pair, amount: CommittedTime(*pair, amount), spans, st.integers(1, 5)), max_size=3),
)


@given(histories, spans)
def test_an_account_is_what_each_second_says(
    history: tuple[int, list[Step], list[Gap], list[CommittedTime]], span: tuple[int, int]
) -> None:
    usage, steps, gaps, committed = history
    assert integrate(*span, usage, steps, gaps, committed) == count(*span, usage, steps, gaps, committed)


@given(histories, st.integers(1, END - 1))
def test_two_times_add_up_to_the_whole(
    history: tuple[int, list[Step], list[Gap], list[CommittedTime]], middle: int
) -> None:
    usage, *rest = history
    first = integrate(0, middle, usage, *rest)
    assert add(first, integrate(middle, END, first.last, *rest)) == integrate(0, END, usage, *rest)


zones = st.builds(
    Zone,
    st.integers(0, 5),
    st.lists(st.builds(Step, times, st.integers(0, 5)), max_size=4, unique_by=lambda step: step.at).map(sorted),
    st.lists(st.builds(lambda pair, amount: CommittedTime(*pair, amount), spans, st.integers(1, 5)), max_size=3),
)


@given(
    st.dictionaries(st.sampled_from(["any", "az-one", "az-two"]), zones, min_size=1),
    st.lists(spans.map(lambda pair: Gap(*pair)), max_size=2),
    spans,
)
def test_what_pooled_commitments_cover(by_az: dict[str, Zone], gaps: list[Gap], span: tuple[int, int]) -> None:
    found = integrate_zones(*span, by_az, gaps)
    beyond = dict.fromkeys(by_az, 0)
    for now in range(*span):
        used, committed = {}, {}
        for az, zone in by_az.items():
            steps = [step.usage for step in zone.steps if span[0] <= step.at <= now]
            used[az] = steps[-1] if steps else zone.usage
            committed[az] = sum(each.amount for each in zone.committed if each.begin <= now < each.end)
        if any(gap.begin <= now < gap.end for gap in gaps):
            continue
        uncovered = {az: max(used[az] - committed[az], 0) for az in by_az}
        if committed.get("any"):
            rest = sum(amount for az, amount in uncovered.items() if az != "any") + used["any"] - committed["any"]
            uncovered = {"any": max(rest, 0)}
        for az, amount in uncovered.items():
            beyond[az] += amount
    assert {az: account.beyond for az, account in found.items()} == beyond
    for az, zone in by_az.items():
        expected = integrate(*span, zone.usage, zone.steps, gaps, zone.committed)
        assert found[az]._replace(beyond=0) == expected._replace(beyond=0)
    assert add_zones([*found.values()]).beyond == sum(beyond.values())


def test_amounts_may_be_larger_than_any_integer_of_a_database() -> None:
    assert integrate(0, 30 * DAY, 2**62).used == 2**62 * 30 * DAY


def test_only_zero_that_was_known_is_nothing() -> None:
    assert constant(0, DAY, 0).is_nothing
    assert not constant(0, DAY, 1).is_nothing
    assert not integrate(0, DAY, 0, gaps=[Gap(5, 6)]).is_nothing
    assert not integrate(0, DAY, 0, committed=[CommittedTime(5, 6, 1)]).is_nothing


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def test_months_are_those_of_the_calendar() -> None:
    february = at("2028-02-01")
    assert month_of(at("2028-02-29T23:59:59")) == february
    assert next_month(february) == at("2028-03-01")
    assert previous_month(february) == at("2028-01-01")
    assert previous_month(at("2028-01-01")) == at("2027-12-01")
    assert day_of(at("2028-02-29T23:59:59")) == at("2028-02-29")


@pytest.mark.parametrize(
    ("text", "granularities"),
    [
        ("2028-02-01", "hour day month total"),
        ("2028-02-02", "hour day total"),
        ("2028-02-02T03:00", "hour total"),
        ("2028-02-02T03:00:01", ""),
    ],
)
def test_what_begins_when(text: str, granularities: str) -> None:
    found = [each.value for each in Granularity if begins_bucket(at(text), each)]
    assert found == granularities.split()


def test_a_total_is_made_of_the_longest_times_that_fit() -> None:
    found = [
        (bucket.granularity.value, bucket.end - bucket.begin)
        for bucket in buckets(at("2028-01-30T22:00"), at("2028-03-02T01:00"), Granularity.TOTAL)
    ]
    hours, day = [("hour", HOUR)] * 2, ("day", DAY)
    assert found == [*hours, day, ("month", 29 * DAY), day, ("hour", HOUR)]


@given(st.integers(0, 5000), st.integers(1, 3000), st.sampled_from(list(Granularity)))
def test_times_follow_each_other_without_a_hole(begin: int, length: int, granularity: Granularity) -> None:
    begin, end = begin * HOUR, (begin + length) * HOUR
    if granularity is Granularity.DAY:
        begin, end = day_of(begin), day_of(end) + DAY
    elif granularity is Granularity.MONTH:
        begin, end = month_of(begin), next_month(month_of(end))
    found = list(buckets(begin, end, granularity))
    assert [found[0].begin, found[-1].end] == [begin, end]
    assert all(one.end == other.begin for one, other in itertools.pairwise(found))
    assert all(begins_bucket(bucket.begin, bucket.granularity) for bucket in found)
