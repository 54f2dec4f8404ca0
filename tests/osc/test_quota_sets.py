"""Preset sizes of quota on the command line. berlin has 20 cores and 1024 MiB of RAM; medium is 25 and 512 MiB."""

from tests.api.world import BERLIN, GERMANY
from tests.osc.client import User
from tests.osc.conftest import Cloud, Login


def test_they_are_listed(cloud: Cloud, login: Login) -> None:
    rows = login("berlin-member").json("quota-set list")
    assert [(row["quota_set"], row["resource"], row["quota"]) for row in rows] == [
        ("medium", "cores", 25),
        ("medium", "ram", 512),
    ]
    assert "some users" in login("berlin-member").must("quota-set list")


def test_a_project_gets_a_size(cloud: Cloud, germany: User) -> None:
    assert germany.must("project set berlin --domain germany --quota-set medium").splitlines() == [
        "compute/cores: 20 -> 25 (+5)",
        "compute/ram: 1 GiB -> 512 MiB (-512 MiB)",
    ]
    rows = germany.json("project simulate berlin --domain germany --quota-set medium --set compute/cores=+3")
    assert [(row["resource"], row["old_quota"], row["new_quota"]) for row in rows] == [
        ("cores", 25, 28),
        ("ram", 512, 512),
    ]


def test_a_domain_gets_a_size(cloud: Cloud, login: Login) -> None:
    refused = login("cloud-admin").refused("domain set germany --quota-set medium")
    assert "compute/cores: 100 -> 25 (-75)\n    refused: " in refused


def test_a_request_for_a_size(cloud: Cloud, berlin: User) -> None:
    """Of which only the cores are more than there is."""
    made = berlin.json("request create --quota-set medium --reason launch")
    assert [(row["resource"], row["wanted_quota"]) for row in made["wanted"]] == [("cores", 25)]
    again = berlin.json("request create --quota-set medium --set compute/ram=2GiB --reason launch")
    assert [(row["resource"], row["wanted_quota"]) for row in again["wanted"]] == [("cores", 25), ("ram", 2048)]


def test_a_name_that_is_none(cloud: Cloud, germany: User) -> None:
    for command in (
        f"project set {BERLIN} --domain {GERMANY} --quota-set meduim",
        f"project simulate {BERLIN} --domain {GERMANY} --quota-set meduim",
    ):
        hint = "--quota-set meduim: there is no such quota set; did you mean medium?"
        assert hint in germany.refused(command)
    refused = germany.refused(f"request create --project {BERLIN} --domain {GERMANY} --quota-set meduim --reason x")
    assert "there is no quota set 'meduim': the quota sets of this cloud are medium" in refused


def test_not_together_with_bounds(cloud: Cloud, germany: User) -> None:
    refused = germany.refused("project set berlin --domain germany --quota-set medium --max-quota compute/cores=5")
    assert "cannot be set in the same request" in refused
