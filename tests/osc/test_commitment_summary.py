"""`limes commitment summary list`: coverage and waste of commitments in a project, a domain and the whole cloud."""

from tests.osc.client import User
from tests.osc.conftest import Cloud, Login

CORES = "--resource compute/cores"


def test_what_programs_see(cloud: Cloud, login: Login) -> None:
    cloud.commit(amount=10)
    cloud.commit(amount=5, duration="1 year")
    (zone,) = login("billing").json(f"commitment summary list --all-domains {CORES}")
    assert (zone["az"], zone["committed"], zone["used"] + zone["unused"], zone["expiring"]) == ("az-one", 15, 15, 10)
    assert (zone["commitments"], zone["projects"], zone["planned"], zone["unit"]) == (2, 1, 0, "")
    assert zone["coverage"] == round(zone["used"] / zone["usage"], 4)
    assert zone["waste"] == round(zone["unused"] / 15, 4)


def test_each_level(cloud: Cloud, login: Login) -> None:
    cloud.commit(amount=10)
    of_domain = login("germany-viewer").json(f"commitment summary list {CORES}")
    assert of_domain == login("cloud-admin").json(f"commitment summary list --domain germany {CORES}")
    (of_project,) = login("berlin-reader").json(f"commitment summary list {CORES}")
    assert (of_project["committed"], of_project["usage"] <= of_domain[0]["usage"]) == (10, True)
    assert login("cloud-admin").json("commitment summary list --domain france") == []
    assert "HTTP 403" in login("berlin-admin").refused("commitment summary list --all-domains")


def test_how_far_it_looks_ahead(cloud: Cloud, admin: User) -> None:
    cloud.commit(amount=5, duration="1 year")
    found = [admin.json(f"commitment summary list --all-domains {CORES} --days {days}")[0] for days in (90, 366)]
    assert [each["expiring"] for each in found] == [0, 5]


def test_what_people_see(cloud: Cloud, admin: User) -> None:
    cloud.commit(amount=10)
    head, row = (line for line in admin.must(f"commitment summary list --all-domains {CORES}").splitlines()[1:4:2])
    assert [cell.strip() for cell in head.strip("|").split("|")] == [
        "Resource", "AZ", "Committed", "Used", "Coverage", "Waste", "Expiring",
    ]  # fmt: skip
    assert [cell.strip() for cell in row.strip("|").split("|")][:3] == ["compute/cores", "az-one", "10"]
    assert row.count(" %") == 2
    cloud.commit(amount=3, confirm_by=2_000_000_000)
    assert "Planned" in admin.must("commitment summary list --all-domains")
