"""From when to when subresources were there: windows, filters, pages, JSON and CSV, and what is refused."""

import csv
import io
from typing import Any

import pytest

from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, World
from tests.lifetimes.lifetimes import DAY, GONE, fill_lifetimes, insert

OF_ALL, OF_GERMANY = "/v1/subresources", f"/v1/domains/{GERMANY}/subresources"
OF_BERLIN = f"/v1/domains/{GERMANY}/projects/{BERLIN}/subresources"


@pytest.fixture
def cloud(world: World) -> World:
    fill_lifetimes(world)
    return world


def ids(world: World, path: str, token: str = "billing") -> list[str]:
    return [one["id"] for one in world.get(path, token)["subresources"]]


def now(world: World) -> int:
    return int(world.clock.now().timestamp())


def test_periods_of_a_project(cloud: World) -> None:
    at = now(cloud)
    document = cloud.get(f"{OF_BERLIN}?from={at - 20 * DAY}&until={at}", "berlin-reader")
    small, big, b = document["subresources"]
    assert (document["from"], document["until"], document["subresources_links"]) == (at - 20 * DAY, at, [])
    scraped_at = cloud.engine.rows(
        "SELECT scraped_at FROM project_services ps JOIN projects p ON p.id = ps.project_id"
        " JOIN services s ON s.id = ps.service_id WHERE p.uuid = %s AND s.type = 'compute'", [BERLIN],
    )[0][0]  # fmt: skip
    assert small == {
        "id": "a", "name": "server a",
        "project": {"id": BERLIN, "name": "berlin", "domain": {"id": GERMANY, "name": "germany"}},
        "service_type": "compute", "resource_name": "cores", "availability_zone": "az-one",
        "attributes": {"flavor": "small"}, "first_seen_at": at - 40 * DAY, "began_at": at - 40 * DAY,
        "last_seen_at": at - 10 * DAY - 60, "ended_at": at - 10 * DAY, "seconds": 10 * DAY,
    }  # fmt: skip
    assert (big["attributes"], big["began_at"], big["seconds"]) == ({"flavor": "big"}, at - 10 * DAY, 10 * DAY)
    assert (big["first_seen_at"], big["last_seen_at"], "ended_at" in big) == (at - 40 * DAY, int(scraped_at), False)
    assert (b["id"], b["availability_zone"], b["seconds"]) == ("b", "az-two", DAY)


@pytest.mark.sql
def test_windows_add_up(cloud: World) -> None:
    at = now(cloud)

    def seconds(begin: float, end: float) -> int:
        query = f"from={at - int(begin * DAY)}&until={at - int(end * DAY)}"
        return sum(one["seconds"] for one in cloud.get(f"{OF_ALL}?{query}")["subresources"])

    assert seconds(30, 0) == (30 + 1 + 5 + 5) * DAY
    assert seconds(30, 12.3) + seconds(12.3, 2.5) + seconds(2.5, 0) == seconds(30, 0)
    assert seconds(1, -50) == 2 * DAY, "nobody knows the future"


@pytest.mark.sql
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (OF_ALL, ["a", "a", "b", "c", "d"]),
        (f"{OF_ALL}?service=compute", ["a", "a", "b", "c"]),
        (f"{OF_ALL}?service=archive", ["d"]),
        (f"{OF_ALL}?resource=tapes&resource=ram", ["d"]),
        (f"{OF_ALL}?area=compute", ["a", "a", "b", "c"]),
        (f"{OF_ALL}?area=compute&service=volume", []),
        (f"{OF_ALL}?availability_zone=az-two", ["b"]),
        (f"{OF_ALL}?id=a", ["a", "a"]),
        (f"{OF_ALL}?project_id={DRESDEN}&project_id={GONE}", ["c", "d"]),
        (f"{OF_ALL}?domain_id={FRANCE}", ["d"]),
        (f"{OF_ALL}?service=", []),
        (OF_GERMANY, ["a", "a", "b", "c"]),
        (f"{OF_GERMANY}?project_id={DRESDEN}", ["c"]),
        (f"/v1/domains/{FRANCE}/projects/{GONE}/subresources", ["d"]),
        (f"/v1/domains/{GERMANY}/projects/{DRESDEN}/subresources", ["c"]),
    ],
)
def test_filters(cloud: World, path: str, expected: list[str]) -> None:
    assert ids(cloud, path) == expected


def test_what_began_a_moment_ago_is_shown(cloud: World) -> None:
    at = now(cloud)
    cloud.engine.atomic(lambda: insert(cloud, 1, "new", -0.5 / DAY, None))
    cloud.clock.advance(0.75)
    assert cloud.get(f"{OF_ALL}?id=new")["subresources"][0]["seconds"] == 0
    assert cloud.get(f"{OF_ALL}?id=new&until={at - 1}")["subresources"] == []


def test_times_are_dates_too(cloud: World) -> None:
    document = cloud.get(f"{OF_ALL}?from=2025-12-01&until=2025-12-31T12:00:00%2B01:00")
    assert (document["from"], document["until"]) == (1764547200, 1767178800)


def test_the_last_thirty_days_are_the_default(cloud: World) -> None:
    document = cloud.get(OF_ALL)
    assert (document["from"], document["until"]) == (now(cloud) - 30 * DAY, now(cloud))


@pytest.mark.sql
@pytest.mark.parametrize("accept", ["application/json", "text/csv"])
def test_pages(cloud: World, accept: str) -> None:
    found: list[str] = []
    path, query, pages = OF_ALL, f"limit=2&from={now(cloud) - 30 * DAY}", 0
    while query:
        result = cloud.request("GET", path, "billing", query_string=query, headers={"Accept": accept})
        pages += 1
        if accept == "text/csv":
            found += [row["id"] for row in csv.DictReader(io.StringIO(result.text, newline=""))]
            href = result.headers.get("link", "<>").partition(">")[0].lstrip("<")
        else:
            found += [one["id"] for one in result.json["subresources"]]
            href = next((link["href"] for link in result.json["subresources_links"]), "")
        query = href.partition("?")[2]
    assert (found, pages) == (["a", "a", "b", "c", "d"], 3)


def test_csv(cloud: World) -> None:
    result = cloud.request("GET", OF_ALL, "billing", headers={"Accept": "text/csv"})
    assert result.headers["content-type"] == "text/csv; charset=utf-8"
    assert "Accept" in result.headers["vary"]
    rows = list(csv.DictReader(io.StringIO(result.text, newline="")))
    assert rows[3] | {"last_seen_at": ""} == {
        "domain_id": GERMANY, "domain_name": "germany", "project_id": DRESDEN, "project_name": "dresden",
        "service_type": "compute", "resource_name": "cores", "availability_zone": "az-one", "id": "c",
        "name": "server c", "attributes": '{"flavor":"small"}', "first_seen_at": "2025-12-27T00:00:00Z",
        "began_at": "2025-12-27T00:00:00Z", "last_seen_at": "", "ended_at": "", "seconds": str(5 * DAY),
    }  # fmt: skip
    assert (rows[4]["name"], rows[4]["project_name"]) == ("'=HYPERLINK(1)", "'=gone"), "no spreadsheet runs this"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("from=1767225600&until=2027-01-01", "from: expected a time before now, which is 2026-01-01T00:00:00Z"),
        ("from=1767225601", "from: expected a time before now, which is 2026-01-01T00:00:00Z"),
        ("from=2025-12-30&until=2025-12-29", "from: expected a time before `until`, which is 2025-12-29T00:00:00Z"),
        ("from=1", "from: lifetimes are kept for 400 days; expected 2024-11-27T00:00:00Z or later"),
        ("until=5", "until: lifetimes are kept for 400 days; expected 2024-11-27T00:00:00Z or later"),
    ],
)
def test_what_is_refused(cloud: World, query: str, message: str) -> None:
    result = cloud.request("GET", OF_ALL, "billing", query_string=query)
    assert (result.status_code, result.text) == (400, f"query parameter {message}\n")


def test_a_project_without_any(world: World) -> None:
    document: Any = world.get(OF_BERLIN, "berlin-member")
    assert (document["subresources"], document["subresources_links"]) == ([], [])


@pytest.mark.sql
def test_a_renamed_project(cloud: World) -> None:
    cloud.run("UPDATE projects SET name = 'mitte' WHERE uuid = %s", [BERLIN])
    assert {one["project"]["name"] for one in cloud.get(OF_BERLIN)["subresources"]} == {"mitte"}
