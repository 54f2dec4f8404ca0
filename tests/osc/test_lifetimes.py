"""`limes subresource lifetime list`: of a project, a domain and the whole cloud; pages, filters and times."""

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest

from tests.commitments.commitments import NOW
from tests.osc.client import User
from tests.osc.conftest import Cloud, Login


def test_what_people_see(cloud: Cloud, login: Login) -> None:
    cloud.add_lifetimes()
    table = login("berlin-member").must("subresource lifetime list")
    assert [line.split("|")[1:5] for line in table.splitlines() if "web-1" in line] == [
        [" compute/cores ", " web-1 ", " flavor: small ", " 2d      "],
        [" compute/cores ", " web-1 ", " flavor: big   ", " 1d      "],
    ]
    everybody = login("cloud-admin").must("subresource lifetime list --all-domains")
    assert "dresden" in everybody
    assert "web-2" in everybody


def test_what_programs_see(cloud: Cloud, admin: User) -> None:
    cloud.add_lifetimes()
    found = admin.json("subresource lifetime list --domain germany")
    assert [(one["project_name"], one["attributes"], one["seconds"]) for one in found] == [
        ("berlin", {"flavor": "small"}, 172800),
        ("berlin", {"flavor": "big"}, 86400),
        ("dresden", {"flavor": "small"}, 86400),
    ]
    assert (found[0]["ended_at"], found[1]["ended_at"]) == (found[1]["began_at"], None)
    assert admin.json("subresource lifetime list --domain germany --limit 2") == found[:2]
    assert admin.json("subresource lifetime list --all-domains --resource compute/ram") == []
    assert [one["name"] for one in admin.json(f"subresource lifetime list --all-domains --id {found[2]['id']}")] == [
        "web-2"
    ]
    assert admin.json("subresource lifetime list --all-domains --az az-two") == []


def test_csv_runs_no_formulas(cloud: Cloud, admin: User) -> None:
    cloud.add_lifetimes()
    cloud.engine.execute("UPDATE subresource_lifetimes SET name = '=HYPERLINK(1)'", [])
    cloud.engine.execute("UPDATE projects SET name = '@berlin' WHERE name = 'berlin'", [])
    rows = list(csv.DictReader(io.StringIO(admin.must("subresource lifetime list --all-domains -f csv"))))
    assert [(row["Project Name"], row["Name"]) for row in rows][::2] == [
        ("'@berlin", "'=HYPERLINK(1)"),
        ("dresden", "'=HYPERLINK(1)"),
    ]
    assert rows[0]["Seconds"] == "172800"
    assert admin.json("subresource lifetime list --all-domains")[0]["name"] == "=HYPERLINK(1)"


def test_times(cloud: Cloud, login: Login) -> None:
    cloud.add_lifetimes()
    begin = datetime.fromtimestamp(NOW, UTC) - timedelta(hours=48)
    window = f"--from {begin:%Y-%m-%dT%H:%M:%SZ} --until {begin + timedelta(hours=12):%Y-%m-%dT%H:%M:%SZ}"
    [found] = login("berlin-member").json(f"subresource lifetime list {window}")
    assert (found["attributes"], found["seconds"]) == ({"flavor": "small"}, 12 * 3600)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--from 2000-01-01 --all-domains", "lifetimes are kept for 400 days; expected 20"),
        ("--from 2100-01-01 --all-domains", "expected a time before now"),
        ("--from soon", "'soon' is not a time"),
        ("--resource compute/croes --all-domains", "did you mean cores?"),
    ],
)
def test_what_is_refused(cloud: Cloud, login: Login, options: str, message: str) -> None:
    assert message in " ".join(login("cloud-admin").refused(f"subresource lifetime list {options}").split())
