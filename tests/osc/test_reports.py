"""Reports: the cluster, domains and projects, for people and for programs."""

from typing import Any

from tests.api.world import BERLIN, DRESDEN, GERMANY
from tests.osc.client import User
from tests.osc.conftest import Login, on_both_databases

pytestmark = on_both_databases


def cells(table: str) -> list[list[str]]:
    """Of a table for people, with the titles."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if "|" in line]


def test_a_project_for_people(login: Login) -> None:
    table = cells(login("cloud-admin").must("project show berlin --domain germany"))
    assert table == [
        ["Resource", "Quota", "Usage", "Backend Quota"],
        ["compute/cores", "20", "5", ""],
        ["compute/gpus", "", "1", ""],
        ["compute/ram", "1 GiB", "512 MiB", "2 GiB"],
        ["volume/capacity", "10 GiB", "3 GiB", "unlimited"],
    ]


def test_a_project_for_programs(login: Login) -> None:
    found = login("cloud-admin").json(f"project show {BERLIN} --resource compute/ram")
    assert found == [
        {
            "service": "compute",
            "resource": "ram",
            "quota": 1024,
            "usable_quota": None,
            "usage": 512,
            "burst_usage": None,
            "physical_usage": 128,
            "backend_quota": 2048,
            "max_quota": None,
            "min_quota": None,
            "temporary": None,
            "autogrowth": None,
            "unit": "MiB",
        }
    ]


def test_the_unit_that_one_asks_for(admin: User) -> None:
    [ram] = admin.json("project show berlin --resource ram --unit gib")
    assert (ram["quota"], ram["usage"], ram["unit"]) == (1, 0.5, "GiB")
    [cores] = admin.json("project show berlin --resource cores --unit GiB")
    assert (cores["quota"], cores["unit"]) == (20, "")
    assert cells(admin.must("project show berlin --resource ram --unit GiB"))[1] == [
        "compute/ram", "1 GiB", "0.50 GiB", "2 GiB",
    ]  # fmt: skip
    assert "'GB' is not a unit (did you mean GiB?)" in admin.refused("project show berlin --unit GB")


def test_filters(admin: User) -> None:

    def shown(options: str) -> list[str]:
        return [f"{one['service']}/{one['resource']}" for one in admin.json(f"project show berlin {options}")]

    assert shown("--service compute") == ["compute/cores", "compute/gpus", "compute/ram"]
    assert shown("--area storage") == ["volume/capacity"]
    assert shown("--resource cores --resource capacity") == ["compute/cores", "volume/capacity"]
    assert shown("--resource compute/cores --resource capacity") == ["compute/cores", "volume/capacity"]
    assert shown("--resource compute/cores --resource volume/capacity") == ["compute/cores", "volume/capacity"]


def test_columns_and_sorting_by_size(admin: User) -> None:
    value = admin.must("project show berlin -f value -c Resource -c Usage -c Unit --service compute")
    assert value.splitlines() == ["cores 5 ", "gpus 1 ", "ram 512 MiB"]
    by_usage = admin.json("domain list --resource ram --sort-column Usage --sort-descending")
    assert [one["domain_name"] for one in by_usage] == ["germany", "france"]
    sizes = admin.json("project show berlin --sort-column Usage")
    assert [one["resource"] for one in sizes] == ["gpus", "cores", "ram", "capacity"]
    assert [one["unit"] for one in sizes][-2:] == ["MiB", "GiB"]


def test_availability_zones(admin: User) -> None:
    found = admin.json("project show berlin --resource cores --per-az")
    assert [(one["az"], one["usage"]) for one in found] == [("az-one", 2), ("az-two", 3)]
    capacity = admin.json("cluster show --resource cores --per-az")
    assert [(one["az"], one["capacity"], one["raw_capacity"], one["usage"]) for one in capacity] == [
        ("az-one", 150, 100, 33),
        ("az-two", 151, 101, 0),
    ]


def test_details_and_long(admin: User) -> None:
    [gpus] = admin.json("project show berlin --resource gpus --detail --long")
    assert gpus["subresources"] == [{"id": "gpu-1"}]
    assert (gpus["area"], gpus["contained_in"], gpus["scraped_at"]) == ("compute", "cores", "1970-01-01T00:16:50Z")
    [cores] = admin.json("project show berlin --resource cores --long")
    assert cores["durations"] == "1 hour, 1 year"
    table = cells(admin.must("project show berlin --resource gpus --detail"))
    assert table[0][-1] == "Subresources"
    assert table[1][-1] == "1"


def test_lists(admin: User) -> None:
    domains = admin.json("domain list --resource cores")
    assert [(one["domain_name"], one["quota"], one["projects_quota"]) for one in domains] == [
        ("france", 50, None),
        ("germany", 100, 50),
    ]
    assert admin.json("domain list --resource cores --limit 1")[0]["domain_name"] == "france"
    after = admin.json("domain list --resource cores --limit 1 --marker uuid-for-france")
    assert [one["domain_id"] for one in after] == [GERMANY]
    projects = admin.json("project list --domain germany --resource cores")
    assert [(one["project_id"], one["project_name"], one["usage"]) for one in projects] == [
        (BERLIN, "berlin", 5),
        (DRESDEN, "dresden", 31),
    ]
    everywhere = admin.json("project list --all-domains --resource cores")
    assert {(one["domain_name"], one["project_name"]) for one in everywhere} >= {("germany", "berlin")}
    assert "marker goes with limit only" in admin.refused("domain list --marker x")


def test_the_domain_shows_unlimited_backends(login: Login) -> None:
    table = cells(login("germany-admin").must(f"domain show {GERMANY} --resource capacity"))
    assert table[1][table[0].index("Backend Quota")] == "unlimited"


def test_why_figures_are_old(admin: User, running_cloud: Any) -> None:
    fail = "UPDATE project_services SET scrape_error = 'secret', failing_since = 0 WHERE project_id = 1 AND service_id = {}"
    service = "(SELECT id FROM services WHERE type = 'volume')"
    running_cloud.engine.atomic(lambda: running_cloud.engine.execute(fail.format(service), []))
    text = (
        "the backend of service volume has been failing since 1970-01-01T00:00:00Z;"
        " these figures are from 1970-01-01T00:16:50Z"
    )
    outcome = admin.run("project show berlin --domain germany")
    assert (outcome.status, outcome.errors.strip()) == (0, text)
    assert {one["service"]: one["problem"] for one in admin.json("project show berlin --long")} == {
        "compute": None,
        "volume": text,
    }
