"""`GET /v1/usage-reports`: what was used and committed over time, as JSON and CSV."""

import csv
import io
from typing import Any

import pytest

from limes.metering import queries as metering
from limes.metering.close import close_days
from limes.metering.queries import StepRow
from tests.api.world import BERLIN, DRESDEN, GERMANY, PARIS, World

HOUR, DAY = 3600, 86400
JANUARY = 1767225600
"""2026-01-01T00:00:00Z, when the world's clock begins."""
FEBRUARY = JANUARY + 31 * DAY
AZ_ONE = "service=shared&resource=capacity&per_az&availability_zone=az-one"
DOMAIN, PROJECT = f"/v1/domains/{GERMANY}", f"/v1/domains/{GERMANY}/projects/{BERLIN}"


def close(world: World) -> None:
    """What the collector's job does, in a cloud that was scraped just now."""
    world.run("UPDATE project_services SET scraped_at = %s", [world.clock.now().timestamp()])
    close_days(world.limes)


def use(world: World, cores: int, *, project: str = BERLIN, az: str = "az-one") -> None:
    """A scrape that finds other usage."""
    at = int(world.clock.now().timestamp())
    row = StepRow(project, "shared", "capacity", az, at, cores, at)
    world.engine.atomic(lambda: metering.add_steps(world.engine, [row]))


@pytest.fixture
def metered(world: World) -> World:
    """The world with an account that begins with January."""
    close(world)
    return world


def report(world: World, query: str, path: str = "/v1", token: str = "cloud-admin") -> list[Any]:
    entries: list[Any] = world.get(f"{path}/usage-reports?{query}", token)["usage_report"]["entries"]
    return entries


def as_csv(world: World, query: str, path: str = "/v1") -> tuple[list[dict[str, str]], Any]:
    """The rows and headers of an answer as CSV."""
    headers = {"Accept": "text/csv"}
    result = world.request("GET", f"{path}/usage-reports", query_string=query, headers=headers)
    assert result.headers["content-type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(result.text))), result.headers


def refused(world: World, query: str, path: str = "/v1") -> str:
    result = world.request("GET", f"{path}/usage-reports", query_string=query)
    assert result.status_code == 400, result.text
    return str(result.text).strip()


@pytest.mark.sql
def test_a_month_of_a_project(metered: World) -> None:
    use(metered, 7)
    metered.clock.advance(10 * HOUR)
    use(metered, 2)
    metered.clock.advance(31 * DAY)
    close(metered)
    (entry,) = report(metered, "from=2026-01-01&until=2026-02-01&service=shared&resource=capacity&per_az", PROJECT)[:1]
    assert entry["project"] == {"id": BERLIN, "name": "berlin", "domain": {"id": GERMANY, "name": "germany"}}
    assert entry | {"project": None} == {
        "project": None,
        "service_type": "shared",
        "resource_name": "capacity",
        "availability_zone": "az-one",
        "from": JANUARY,
        "until": FEBRUARY,
        "used": 7 * 10 * HOUR + 2 * (31 * DAY - 10 * HOUR),
        "committed": 0,
        "beyond_commitments": 7 * 10 * HOUR + 2 * (31 * DAY - 10 * HOUR),
        "unknown_seconds": 0,
        "smallest": 2,
        "largest": 7,
        "last": 2,
        "closed": {"month": 1},
        "version": 1,
    }


@pytest.mark.sql
def test_zones_add_up_to_the_whole(metered: World) -> None:
    """Without `per_az`, zones are not told apart: in open and closed months, as JSON and CSV."""
    use(metered, 7)
    use(metered, 5, az="az-two")
    for days, closed in ((1, False), (40, True)):
        metered.clock.advance(days * DAY)
        close(metered)
        query = "from=2026-01-01&until=2026-02-01&service=shared&resource=capacity"
        for granularity in ("month", "total"):
            whole = report(metered, f"{query}&granularity={granularity}&per_az=false", PROJECT)
            zones = report(metered, f"{query}&granularity={granularity}&per_az=true", PROJECT)
            assert whole == report(metered, f"{query}&granularity={granularity}", PROJECT)
            (entry,) = whole
            assert len(zones) > 1
            assert not {"availability_zone", "smallest", "largest"} & set(entry)
            assert (entry["closed"] == {"month": 1}) is closed
            for name in ("used", "committed", "beyond_commitments", "last"):
                assert entry[name] == sum(zone[name] for zone in zones)
            assert entry["unknown_seconds"] == max(zone["unknown_seconds"] for zone in zones)
        ((row,), _) = as_csv(metered, query, PROJECT)
        assert (row["availability_zone"], row["smallest"], row["largest"]) == ("", "", "")
        assert int(row["used"]) == entry["used"]


def test_a_total_says_how_many_months_are_closed(metered: World) -> None:
    use(metered, 7)
    metered.clock.advance(70 * DAY)
    close(metered)
    query = "from=2026-01-01&until=2026-03-01&granularity=total&service=shared&resource=capacity"
    (entry,) = report(metered, query, PROJECT)
    assert (entry["closed"], entry["used"]) == ({"month": 2}, 7 * (31 + 28) * DAY)


@pytest.mark.sql
def test_hours_days_and_the_total_add_up_to_the_same(metered: World) -> None:
    for amount in (3, 9, 1, 4):
        use(metered, amount)
        metered.clock.advance(7 * HOUR)
    close(metered)
    query = f"from={JANUARY}&until={JANUARY + DAY}&{AZ_ONE}&project_id={BERLIN}"
    found = {word: report(metered, f"{query}&granularity={word}") for word in ("hour", "day", "total")}
    sums = {word: sum(entry["used"] for entry in entries) for word, entries in found.items()}
    assert sums == dict.fromkeys(sums, 7 * HOUR * (3 + 9 + 1) + 3 * HOUR * 4)
    assert [entry["from"] for entry in found["hour"]] == [JANUARY + hour * HOUR for hour in range(24)]
    assert found["total"][0]["closed"] == {"day": 1}
    assert found["hour"][0]["closed"] == {"hour": 1}


def test_what_is_not_closed_yet_says_so(metered: World) -> None:
    use(metered, 5)
    metered.clock.advance(DAY + HOUR)
    close(metered)
    entries = report(metered, f"from={JANUARY}&granularity=day&service=shared&resource=capacity&per_az", PROJECT)
    first, second = [entry for entry in entries if entry["availability_zone"] == "az-one"]
    assert first["closed"] == {"day": 1}
    assert "open" not in first
    assert (second["closed"], second["open"]) == ({}, {"day": 1})


@pytest.mark.sql
def test_a_closed_month_is_the_same_bytes_for_ever(metered: World) -> None:
    metered.clock.advance(32 * DAY)
    close(metered)

    def answers() -> list[bytes]:
        query = "from=2026-01-01&until=2026-02-01"
        return [
            metered.request("GET", "/v1/usage-reports", query_string=query, headers={"Accept": accept}).content
            for accept in ("application/json", "text/csv")
        ]

    before = answers()
    use(metered, 1000)
    metered.run("UPDATE projects SET name = 'renamed' WHERE uuid = %s", [BERLIN])
    close(metered)
    metered.clock.advance(3 * DAY)
    close(metered)
    metered.run("DELETE FROM projects WHERE uuid = %s", [PARIS])
    close(metered)
    assert answers() == before
    assert b"renamed" not in before[0]
    later = metered.request("GET", "/v1/usage-reports", query_string="from=2026-02-01").content
    assert b"renamed" in later


def test_a_correction_says_when_and_why(metered: World) -> None:
    metered.clock.advance(32 * DAY)
    close(metered)
    at = int(metered.clock.now().timestamp())
    late = StepRow(BERLIN, "shared", "capacity", "az-one", FEBRUARY - DAY, 7, at)
    metered.engine.atomic(lambda: metering.add_steps(metered.engine, [late]))
    close(metered)
    for query in ("from=2026-01-01&until=2026-02-01", "from=2026-01-31&until=2026-02-01&granularity=day"):
        (entry,) = report(metered, f"{query}&{AZ_ONE}", PROJECT)
        assert (entry["used"], entry["version"]) == (7 * DAY, 2)
        assert entry["corrections"] == [{"at": at, "reason": "usage of this time was recorded afterwards"}]


def test_csv_has_a_row_for_each_entry_and_runs_no_formula(metered: World) -> None:
    metered.run("UPDATE projects SET name = '=HYPERLINK(\"evil\")' WHERE uuid = %s", [BERLIN])
    metered.clock.advance(HOUR)
    close(metered)
    rows, _ = as_csv(metered, "from=2026-01-01")
    assert len(rows) == len(report(metered, "from=2026-01-01"))
    assert {row["project_name"] for row in rows if row["project_id"] == BERLIN} == {'\'=HYPERLINK("evil")'}
    assert {(row["from"], row["until"], row["closed"]) for row in rows} == {
        ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "false")
    }


@pytest.mark.sql
def test_totals_may_have_more_than_64_bits(metered: World) -> None:
    use(metered, 2**60)
    metered.clock.advance(30 * DAY)
    close(metered)
    (entry,) = report(metered, f"from=2026-01-01&{AZ_ONE}", PROJECT)
    assert entry["used"] == 2**60 * 30 * DAY


@pytest.mark.sql
def test_pages_of_projects(metered: World) -> None:
    use(metered, 5, project=PARIS)
    metered.clock.advance(HOUR)
    whole = report(metered, "from=2026-01-01")
    pages, path = [], "/v1/usage-reports?from=2026-01-01&limit=1"
    while path:
        result = metered.request("GET", path.partition("?")[0], query_string=path.partition("?")[2])
        document = result.json["usage_report"]
        pages.append(document["entries"])
        links = [link["href"] for link in document["links"]]
        assert result.headers.get("link") == (f'<{links[0]}>; rel="next"' if links else None)
        path = links[0] if links else ""
    assert [{entry["project"]["id"] for entry in page} for page in pages] == [{BERLIN}, {DRESDEN}, {PARIS}]
    assert [entry for page in pages for entry in page] == whole


@pytest.mark.sql
def test_huge_ranges_come_in_pages(metered: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page has at most so many hours of projects, whatever `limit` says."""
    monkeypatch.setattr("limes.metering.report._BUCKETS", 700)
    use(metered, 5, project=PARIS)
    metered.clock.advance(14 * DAY)
    path, pages = f"/v1/usage-reports?from={JANUARY}&granularity=hour&limit=20000", []
    while path:
        document = metered.get(path)["usage_report"]
        pages.append({entry["project"]["id"] for entry in document["entries"]})
        path = "".join(link["href"] for link in document["links"])
    assert pages == [{BERLIN, DRESDEN}, {PARIS}]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("", "from: expected the time from which the account is wanted"),
        ("from=2026-01-02", "from: expected the beginning of a month (UTC), not 2026-01-02T00:00:00Z"),
        (
            "from=2026-01-01T01:00&granularity=day",
            "from: expected the beginning of a day (UTC), not 2026-01-01T01:00:00Z",
        ),
        ("from=2026-02-01&until=2026-01-01", "until: expected a time after `from`"),
        ("from=2026-01-01&until=2026-01-01", "until: expected a time after `from`"),
        ("from=2026-01-01&until=9999-01-01", "until: expected no time after the end of next year"),
        ("from=2027-01-01&until=2027-02-01", "from: expected no time in the future; it is 2026-02-10"),
        ("from=2027-01-01", "from: expected no time in the future; it is 2026-02-10"),
        ("from=2025-12-01", "from: the account of usage begins on 2026-01-01T00:00:00Z"),
        (
            "from=1970-01-01&until=2027-01-01&granularity=hour",  # half a million hours
            "from: the account of usage begins on 2026-01-01T00:00:00Z; there is none before",
        ),
        (
            "from=2026-01-01&granularity=hour",
            "from: single hours are kept from 2026-01-27T00:00:00Z on; ask for longer times",
        ),
        ("from=2026-01-01&availability_zone=az-one", "availability_zone: expected together with per_az"),
    ],
)
def test_bad_questions(metered: World, query: str, text: str) -> None:
    metered.clock.advance(40 * DAY)
    assert refused(metered, query).startswith(f"query parameter {text}")


def test_before_the_beginning_there_is_no_account(world: World) -> None:
    result = world.request("GET", "/v1/usage-reports", query_string="from=2026-01-01")
    assert result.status_code == 503
    assert "there is no account of usage yet: no collector has run so far" in result.text


def test_reports_say_when_metering_began(world: World) -> None:
    """So that nobody takes what was not known for what was not used."""
    world.clock.advance(10 * DAY)
    close(world)
    for path in ("/v1", DOMAIN, PROJECT):
        document = world.get(f"{path}/usage-reports?from=2026-01-01&service=nothing", "cloud-admin")["usage_report"]
        assert document["metering_began_at"] == JANUARY + 10 * DAY
        assert document["entries"] == []
        _, headers = as_csv(world, "from=2026-01-01", path)
        assert headers["x-limes-metering-began-at"] == str(JANUARY + 10 * DAY)


def test_each_level_shows_its_own(metered: World) -> None:
    use(metered, 5, project=PARIS)
    metered.clock.advance(HOUR)
    close(metered)

    def projects(path: str, token: str, query: str = "") -> set[str]:
        return {entry["project"]["id"] for entry in report(metered, f"from=2026-01-01{query}", path, token)}

    assert projects("/v1", "billing") == {BERLIN, DRESDEN, PARIS}
    assert projects(DOMAIN, "germany-viewer") == {BERLIN, DRESDEN}
    assert projects(PROJECT, "berlin-reader") == {BERLIN}
    assert projects("/v1", "billing", f"&project_id={PARIS}&project_id={BERLIN}") == {BERLIN, PARIS}
    assert projects("/v1", "billing", f"&domain_id={GERMANY}") == {BERLIN, DRESDEN}
    assert projects(DOMAIN, "germany-viewer", f"&project_id={PARIS}") == set()


@pytest.mark.sql
def test_a_vanished_project_is_still_told_of(metered: World) -> None:
    metered.clock.advance(HOUR)
    close(metered)
    metered.run("DELETE FROM projects WHERE uuid = %s", [BERLIN])
    close(metered)
    assert report(metered, "from=2026-01-01", PROJECT, "germany-admin")
    result = metered.request("GET", f"{DOMAIN}/projects/nowhere/usage-reports", query_string="from=2026-01-01")
    assert result.status_code == 404
