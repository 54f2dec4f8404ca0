"""`limes usage report`: of a project, a domain and the whole cloud."""

import csv
import io
from argparse import Namespace
from types import SimpleNamespace
from typing import Any

import pytest
from limes_osc.usage import ReportUsage

from tests.osc.client import User
from tests.osc.conftest import Cloud, Login

DAY = 86400


@pytest.fixture
def metered(cloud: Cloud) -> Cloud:
    cloud.meter()
    return cloud


def test_what_people_see(metered: Cloud, login: Login) -> None:
    table = login("cloud-admin").must(
        "usage report --project berlin --domain germany --from 2025-12-22 --granularity day"
    )
    assert "compute/cores" in table
    assert "2025-12-23" in table
    assert "open" not in table
    assert "Version" not in table


def test_programs_get_amount_seconds(metered: Cloud, login: Login) -> None:
    query = "usage report --all-domains --from 2025-12-23 --until 2025-12-24 --granularity total"
    found = login("billing").json(f"{query} --resource compute/ram")
    first = found[0]
    assert first["used"] == first["last"] * DAY
    assert (first["unit"], first["state"], first["from"]) == ("MiB", "open", "2025-12-23T00:00:00Z")
    rows = list(csv.DictReader(io.StringIO(login("billing").must(f"{query} --resource compute/ram -f csv"))))
    assert [int(row["Used"]) for row in rows] == [each["used"] for each in found]


def test_zones_are_told_apart_if_asked_for(metered: Cloud, login: Login) -> None:
    query = "usage report --all-domains --from 2025-12-23 --until 2025-12-24 --granularity day --resource compute/cores"
    whole, zones = login("billing").json(query), login("billing").json(f"{query} --per-az")
    assert {each["az"] for each in whole} == {None}
    assert sum(each["used"] for each in whole) == sum(each["used"] for each in zones)
    one = login("billing").json(f"{query} --az az-one")
    assert one == [each for each in zones if each["az"] == "az-one"] != []


def test_hours_of_all_projects(metered: Cloud, login: Login) -> None:
    found = login("cloud-admin").json(
        "usage report --all-domains --from 2025-12-23 --granularity hour --resource cores"
    )
    assert len({each["project_name"] for each in found}) > 1
    assert len({each["from"] for each in found}) == 9 * 24


def test_when_metering_began(metered: Cloud, login: Login) -> None:
    """It is said of times that have begun before, but not among what programs read."""
    admin = login("billing")
    done = admin.run("usage report --all-domains --from 2025-12-01 -f json")
    assert "Metering began at 2025-12-22T00:00:00Z: what was used before is not known." in done.errors
    assert done.json
    done = admin.run("usage report --all-domains --from 2025-12-22 --granularity day -f json")
    assert "began" not in done.errors


def test_what_was_told_before_a_correction(metered: Cloud, login: Login) -> None:
    query = "usage report --all-domains --from 2025-12-23 --until 2025-12-24 --granularity day"
    said = login("billing").refused(f"{query} --as-of 2025-12-24")
    assert "as_of: past figures are kept for days and months that were closed at that time" in said


def test_what_is_wrong_is_said(metered: Cloud, admin: User) -> None:
    said = admin.refused("usage report --all-domains --from 2025-12-24")
    assert "expected the beginning of a month (UTC), not 2025-12-24T00:00:00Z" in said
    assert "is not a time" in admin.refused("usage report --all-domains --from christmas")


class Pages:
    """Answers two pages, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[tuple[str, str]]] = []

    def get(self, path: str, query: list[tuple[str, str]]) -> Any:
        self.asked.append(query)
        first = len(self.asked) == 1
        links = [{"rel": "next", "href": f"{path}?from=1&resource=cores&marker=p7"}] if first else []
        return {"usage_report": {"entries": [f"page {len(self.asked)}"], "links": links}}


def test_all_pages_are_read() -> None:
    pages = Pages()
    command = ReportUsage(SimpleNamespace(client_manager=SimpleNamespace(limes=pages)), Namespace())
    assert list(command._entries("/usage-reports", [("from", "1")])) == ["page 1", "page 2"]
    assert pages.asked == [[("from", "1")], [("from", "1"), ("resource", "cores"), ("marker", "p7")]]
