"""Columns by title and by key, hidden ones, and sorting by what is not shown."""

import csv
import io
from datetime import datetime

from tests.api.world import BERLIN
from tests.osc.client import User
from tests.osc.conftest import Cloud, Login
from tests.osc.test_reports import cells


def test_keys_and_titles_choose_the_same_columns(login: Login, admin: User) -> None:
    show = "project list --domain germany --resource cores"
    for chosen in ("-c 'Project Name' -c Quota", "-c project_name -c quota", "-c 'project name' -c QUOTA"):
        assert admin.json(f"{show} {chosen}")[0] == {"project_name": "berlin", "quota": 20}
        rows = list(csv.reader(io.StringIO(admin.must(f"{show} {chosen} -f csv"))))
        assert rows[:2] == [["Project Name", "Quota"], ["berlin", "20"]]
        assert admin.must(f"{show} {chosen} -f value").splitlines()[0] == "berlin 20"
        assert cells(admin.must(f"{show} {chosen}"))[:2] == [["Project Name", "Quota"], ["berlin", "20"]]
    identity = login("berlin-admin")
    assert identity.json("identity show -c 'Project ID'") == {"project_id": BERLIN}
    assert identity.must("identity show -c project_id -f value") == f"{BERLIN}\n"
    assert identity.must("identity show -c 'Project ID' -f shell") == f'project_id="{BERLIN}"\n'


def test_a_column_that_does_not_exist(admin: User) -> None:
    said = admin.refused("project show berlin -c Resource -c Quotas -f value")
    assert said == "there is no column 'Quotas': did you mean Quota or Min Quota?\n"
    assert "there is no column 'size': there are: AZ, Area," in admin.refused(
        "project show berlin --per-az -c size -f csv"
    )
    assert "there is no column 'Use'" in admin.refused("project show berlin --sort-column Use")
    assert "there is no column 'Rolls': did you mean Roles?" in admin.refused("identity show -c Rolls")


def test_hidden_columns_are_there_for_who_asks(admin: User) -> None:
    show = "project list --domain germany --resource ram"
    assert cells(admin.must(show))[0] == ["Project Name", "Resource", "Quota", "Usage"]
    assert cells(admin.must(f"{show} --long"))[0][:2] == ["Project ID", "Project Name"]
    assert "Physical Usage" in cells(admin.must(f"{show} --long"))[0]
    assert cells(admin.must(f"{show} -c project_id -c area"))[1] == [BERLIN, "compute"]
    assert "area" not in admin.json(show)[0]
    assert admin.json(f"{show} --long")[0]["area"] == "compute"


def test_the_service_is_in_front_of_the_resource(admin: User) -> None:
    """As options take it; only tables for people do that."""
    show = "project show berlin --resource ram"
    assert cells(admin.must(f"{show} -c Resource"))[1] == ["compute/ram"]
    assert cells(admin.must(f"{show} -c Service -c Resource"))[1] == ["compute", "ram"]
    assert admin.must(f"{show} -f value -c Resource") == "ram\n"
    assert admin.json(f"{show} -c Service -c Resource") == [{"service": "compute", "resource": "ram"}]


def test_sorting_by_a_column_that_is_not_shown(admin: User) -> None:
    by_usage = "project show berlin --sort-column usage -f value -c Resource"
    assert admin.must(by_usage).split() == ["gpus", "cores", "ram", "capacity"]
    assert admin.must(f"{by_usage} --sort-descending").split() == ["capacity", "ram", "cores", "gpus"]
    # empty cells come last in both directions: gpus have no quota
    assert admin.must("project show berlin --sort-column Quota -f value -c Resource").split()[-1] == "gpus"
    assert (
        admin.must("project show berlin --sort-column Quota --sort-descending -f value -c Resource").split()[-1]
        == "gpus"
    )


def test_times_for_people_and_programs(cloud: Cloud, berlin: User) -> None:
    made = cloud.commit()
    assert berlin.json("commitment list")[0]["expires_at"] == "2026-01-01T01:00:00Z"
    assert berlin.must("commitment list -f value -c 'Expires At'") == "2026-01-01T01:00:00Z\n"
    assert cells(berlin.must("commitment list"))[1][-1] == "2026-01-01"
    assert cells(berlin.must("commitment list --long -c 'Expires At'"))[1] == ["2026-01-01 01:00:00 UTC"]
    shown = dict(row for row in cells(berlin.must(f"commitment show {made['id']}")) if len(row) == 2)
    assert shown["Expires At"].startswith("2026-01-01 01:00:00 UTC (")
    assert datetime.fromisoformat(berlin.json(f"commitment show {made['id']}")["created_at"]).tzinfo is not None


def test_a_table_with_nothing_in_it(berlin: User) -> None:
    outcome = berlin.run("commitment list")
    assert (outcome.status, outcome.out) == (0, "")
    assert outcome.errors == "No commitments were found.\n"
    assert "| ID | Resource |" in berlin.must("commitment list --print-empty")
    outcome = berlin.run("commitment list -f json")
    assert (outcome.json, outcome.errors) == ([], "")


def test_explanations_fit(admin: User) -> None:
    assert cells(admin.must("project explain berlin --resource cores")) == [
        ["Resource", "Quota", "Min", "Max"],
        ["compute/cores", "20", "5 (usage)", "70 (domain quota)"],
    ]
    assert cells(admin.must("domain explain germany --resource cores"))[1][-1] == "no limit"
    [cores] = admin.json("domain explain germany --resource cores")
    assert (cores["max"], cores["max_rule"]) == (2**63 - 2, "amount")
    long = cells(admin.must("project explain berlin --resource cores --long"))[0]
    assert {"Usage", "Domain Quota", "Capacity"} <= set(long)
