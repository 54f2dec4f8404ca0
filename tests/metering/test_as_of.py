"""`GET /v1/usage-reports?as_of=`: what was told before it was corrected."""

from typing import Any

import pytest

from limes.metering import queries as metering
from limes.metering.queries import StepRow
from tests.api.world import BERLIN, GERMANY, World
from tests.metering.test_reports import DAY, FEBRUARY, HOUR, JANUARY, close

QUESTIONS = (
    "from=2026-01-01&until=2026-02-01",
    "from=2026-01-01&until=2026-02-01&granularity=total",
    "from=2026-01-01&until=2026-02-01&granularity=day",
    "from=2026-01-30&until=2026-02-02&granularity=day",
    "from=2026-01-10&until=2026-02-01&granularity=total",
    "from=2026-01-01&until=2026-02-01&resource=capacity&per_az&availability_zone=az-one&limit=1",
)


def now(world: World) -> int:
    return int(world.clock.now().timestamp())


def correct(world: World, at: int, usage: int) -> None:
    """Usage of a closed day is recorded an hour later."""
    world.clock.advance(HOUR)
    late = StepRow(BERLIN, "shared", "capacity", "az-one", at, usage, now(world))
    world.engine.atomic(lambda: metering.add_steps(world.engine, [late]))
    close(world)


def ask(world: World, query: str, accept: str = "application/json") -> bytes:
    result = world.request("GET", "/v1/usage-reports", query_string=query, headers={"Accept": accept})
    assert result.status_code == 200, result.text
    return bytes(result.content)


def answers(world: World, as_of: int | None = None) -> list[bytes]:
    more = "" if as_of is None else f"&as_of={as_of}"
    found = []
    for question in QUESTIONS:
        for accept in ("application/json", "text/csv"):
            # a link to the next page goes on with what was asked
            found.append(ask(world, question + more, accept).replace(f"&as_of={as_of}".encode(), b""))
    return found


@pytest.fixture
def metered(world: World) -> World:
    """The world with an account that begins with January, on the third of February."""
    close(world)
    world.clock.advance(33 * DAY + HOUR)
    close(world)
    return world


@pytest.mark.sql
def test_what_was_billed_can_be_read_again(metered: World) -> None:
    """Byte by byte, after each of several corrections: of a usage, of one that was nothing, of several days at once."""
    told = {now(metered): answers(metered)}
    for at, usage in ((FEBRUARY - DAY, 7), (JANUARY + 25 * DAY, 4), (FEBRUARY - DAY + HOUR, 0), (FEBRUARY + HOUR, 9)):
        correct(metered, at, usage)
        told[now(metered)] = answers(metered)
    assert len({answer[0] for answer in told.values()}) == 4  # the last correction was of February
    assert len({answer[6] for answer in told.values()}) == 5
    for as_of, answer in told.items():
        assert answers(metered, as_of) == answer, as_of
    assert answers(metered, now(metered)) == answers(metered)


@pytest.mark.sql
def test_it_has_the_version_and_the_reasons_of_that_time(metered: World) -> None:
    correct(metered, FEBRUARY - DAY, 7)
    first = now(metered)
    correct(metered, FEBRUARY - DAY, 8)
    place = "service=shared&resource=capacity&per_az&availability_zone=az-one&project_id=" + BERLIN

    def told(more: str = "") -> tuple[int, int, list[int]]:
        document: Any = metered.get(f"/v1/usage-reports?from=2026-01-01&until=2026-02-01&{place}{more}")
        (entry,) = document["usage_report"]["entries"] or [{"used": 0, "version": 1}]
        return entry["used"], entry["version"], [each["at"] for each in entry.get("corrections", ())]

    assert told(f"&as_of={first - 1}") == (0, 1, [])
    assert told(f"&as_of={first}") == (7 * DAY, 2, [first])
    assert told() == (8 * DAY, 3, [first, now(metered)])


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (
            "from=2026-01-01&until=2026-02-01&as_of=2026-03-01",
            "as_of: expected no time in the future; it is 2026-02-03",
        ),
        (
            "from=2026-01-01&until=2026-02-01&as_of=2026-01-31T12:00",
            "as_of: past figures are kept for days and months that were closed at that time; expected an"
            " `until` of 2026-01-01T00:00:00Z or before",
        ),
        ("from=2026-01-01&as_of=2026-02-03", "as_of: past figures are kept for days and months that were closed"),
        (
            "from=2026-02-01&until=2026-02-02&granularity=hour&as_of=2026-02-03",
            "as_of: figures from before a correction are kept for days and months only",
        ),
        (
            "from=2026-02-01&until=2026-02-01T05:00&granularity=total&as_of=2026-02-03",
            "as_of: figures from before a correction are kept for days and months only",
        ),
    ],
)
def test_what_was_not_closed_then(metered: World, query: str, text: str) -> None:
    result = metered.request("GET", f"/v1/domains/{GERMANY}/usage-reports", query_string=query)
    assert result.status_code == 400
    assert str(result.text).startswith(f"query parameter {text}")
