"""Setting quotas: what is asked for, the changes that are shown, refusals, and changes of others meanwhile."""

import pytest

from tests.api.world import BERLIN, GERMANY
from tests.osc.client import User
from tests.osc.conftest import Cloud, Login
from tests.support.rows import all_rows

BERLIN_IN_GERMANY = f"--domain {GERMANY} {BERLIN}"


def quota(user: User, resource: str, project: str = BERLIN_IN_GERMANY) -> int:
    [found] = user.json(f"project show {project} --resource {resource}")
    value: int = found["quota"]
    return value


@pytest.mark.parametrize(
    ("resource", "wish", "shown", "new"),
    [
        ("cores", "25", "20 -> 25 (+5)", 25),
        ("cores", "+5", "20 -> 25 (+5)", 25),
        ("cores", "-5", "20 -> 15 (-5)", 15),
        ("cores", "+12%", "20 -> 22 (+2)", 22),
        ("cores", "-12%", "20 -> 18 (-2)", 18),
        ("cores", "+100%", "20 -> 40 (+20)", 40),
        ("ram", "2GiB", "1 GiB -> 2 GiB (+1 GiB)", 2048),
        ("ram", "1.5 GiB", "1 GiB -> 1.5 GiB (+512 MiB)", 1536),
        ("ram", "+1MiB", "1 GiB -> 1025 MiB (+1 MiB)", 1025),
        ("ram", "1048576KiB", "1 GiB (unchanged)", 1024),
        ("cores", "+1%", "20 (unchanged)", 20),
    ],
)
def test_what_can_be_asked_for(germany: User, resource: str, wish: str, shown: str, new: int) -> None:
    said = germany.must(f"project set {BERLIN_IN_GERMANY} --set 'compute/{resource}={wish}'")
    assert said == f"compute/{resource}: {shown}\n"
    assert quota(germany, f"compute/{resource}") == new


@pytest.mark.parametrize(
    ("wish", "problem"),
    [
        ("compute/cores", "--set compute/cores: expected <service>/<resource>=<amount>, such as compute/ram=200GiB"),
        ("cores=5", "--set cores=5: expected <service>/<resource>=<amount>, did you mean compute/cores=5?"),
        ("compute/cores=5GiB", "compute/cores: '5GiB' has a unit, the resource has none"),
        ("compute/cores=many", "compute/cores: 'many' is not an amount (expected for example 10)"),
        ("compute/cores=+x%", "compute/cores: '+x%' is not a change (expected for example +10%)"),
        ("compute/cores=-21", "compute/cores: '-21' of 20 would be below zero"),
        ("compute/cores=1.5", "compute/cores: '1.5' is not a whole number of things"),
        ("compute/ram=100", "compute/ram: '100' has no unit (did you mean 100MiB?)"),
        ("compute/ram=1GB", "compute/ram: 'GB' is not a unit (did you mean 1GiB?)"),
        ("compute/ram=1KiB", "compute/ram: '1KiB': value of 1024 B cannot be represented as integer number of MiB"),
        ("compute/gpus=1", "compute/gpus: it has no quota"),
        ("compute/nope=1", "compute/nope: compute has no such resource; there are: cores, gpus, ram"),
    ],
)
def test_what_cannot_be_asked_for(cloud: Cloud, germany: User, wish: str, problem: str) -> None:
    before = all_rows(cloud.engine)
    assert problem in germany.refused(f"project set {BERLIN_IN_GERMANY} --set volume/capacity=9GiB --set {wish}")
    assert all_rows(cloud.engine) == before


def test_nothing_and_twice(germany: User) -> None:
    assert "which quotas?" in germany.refused(f"project set {BERLIN_IN_GERMANY}")
    twice = "--set compute/cores=1 --set compute/cores=2"
    assert "compute/cores is set twice" in germany.refused(f"project set {BERLIN_IN_GERMANY} {twice}")


def test_a_refusal_says_what_would_be_acceptable(cloud: Cloud, germany: User) -> None:
    before = all_rows(cloud.engine)
    said = germany.refused(
        f"project set {BERLIN_IN_GERMANY} --set compute/cores=90 --set compute/ram=100MiB --set volume/capacity=9GiB"
    )
    assert said == (
        "nothing was changed:\n"
        "compute/cores: 20 -> 90 (+70)\n"
        "    refused: domain quota exceeded (at most 70)\n"
        "compute/ram: 1 GiB -> 100 MiB (-924 MiB)\n"
        "    refused: quota may not be lower than current usage (at least 512 MiB)\n"
        "volume/capacity: 10 GiB -> 9 GiB (-1 GiB)\n"
    )
    assert all_rows(cloud.engine) == before


def test_simulate(cloud: Cloud, germany: User) -> None:
    before = all_rows(cloud.engine)
    outcome = germany.run(
        f"project simulate {BERLIN_IN_GERMANY} --set compute/cores=90 --set compute/ram=+1GiB -f json"
    )
    assert outcome.status == 1
    assert outcome.json == [
        {
            "service": "compute",
            "resource": "cores",
            "old_quota": 20,
            "new_quota": 90,
            "acceptable": False,
            "min_acceptable": None,
            "max_acceptable": 70,
            "message": "domain quota exceeded",
            "temporary": None,
            "unit": "",
        },
        {
            "service": "compute",
            "resource": "ram",
            "old_quota": 1024,
            "new_quota": 2048,
            "acceptable": True,
            "min_acceptable": None,
            "max_acceptable": None,
            "message": None,
            "temporary": None,
            "unit": "MiB",
        },
    ]
    fine = germany.must(f"project simulate {BERLIN_IN_GERMANY} --set compute/ram=2GiB")
    assert "| compute/ram | 1 GiB     | 2 GiB     | yes        |" in fine
    assert all_rows(cloud.engine) == before


def test_domains(login: Login, germany: User) -> None:
    cloud_admin = login("cloud-admin")
    said = cloud_admin.must("domain set germany --set compute/cores=+10% --set compute/ram=+1GiB --yes")
    assert said == "compute/cores: 100 -> 110 (+10)\ncompute/ram: 4 GiB -> 5 GiB (+1 GiB)\n"
    [cores] = cloud_admin.json("domain show germany --resource cores")
    assert cores["quota"] == 110
    assert cloud_admin.run("domain simulate germany --set compute/cores=1").status == 1
    refused = germany.refused(f"domain set {GERMANY} --set compute/cores=500")
    assert "compute/cores: 110 -> 500 (+390)\n    refused: " in refused


def test_roles(login: Login) -> None:
    for token in ("berlin-member", "berlin-admin"):
        said = login(token).refused(f"project set {BERLIN_IN_GERMANY} --set compute/cores=40")
        assert "user is not allowed to raise" in said
    said = login("dresden-admin").refused(f"project set {BERLIN_IN_GERMANY} --set compute/cores=40")
    assert said.startswith("Forbidden: this needs the role ")
    assert (
        "the roles of this token do not allow it; openstack limes identity show lists them (GET /v1/domains/uuid-for-germany/"
        in said
    )


def test_somebody_else_was_faster(login: Login, germany: User) -> None:
    at_work = germany.at_terminal(f"project set {BERLIN_IN_GERMANY} --set compute/cores=+10")
    at_work.wait_for_question()
    login("cloud-admin").must(f"project set {BERLIN_IN_GERMANY} --set compute/cores=21")
    outcome = at_work.answer("y\n")
    assert outcome.status == 1
    assert outcome.out == "compute/cores: 20 -> 30 (+10)\n"
    assert "someone else changed a quota in the meantime, and nothing was written" in outcome.errors
    assert quota(germany, "compute/cores") == 21


@pytest.mark.parametrize(("answer", "new"), [("y\n", 30), ("\n", 20)])
def test_the_question(germany: User, answer: str, new: int) -> None:
    at_work = germany.at_terminal(f"project set {BERLIN_IN_GERMANY} --set compute/cores=30")
    at_work.wait_for_question()
    outcome = at_work.answer(answer)
    assert quota(germany, "compute/cores") == new
    assert (outcome.status, "nothing was changed" in outcome.errors) == ((0, False) if new == 30 else (1, True))


def test_no_question_with_yes(germany: User) -> None:
    outcome = germany.at_terminal(f"project set {BERLIN_IN_GERMANY} --set compute/cores=30 --yes").wait()
    assert (outcome.status, "[y/N]" in outcome.errors) == (0, False)
    assert quota(germany, "compute/cores") == 30


def test_bursting(germany: User) -> None:
    switch = f"project set {BERLIN_IN_GERMANY}"
    assert germany.must(f"{switch} --enable-bursting") == "bursting: disabled -> enabled\n"
    assert germany.must(f"{switch} --enable-bursting") == "bursting: enabled (unchanged)\n"
    [cores] = germany.json(f"project show {BERLIN_IN_GERMANY} --resource cores")
    assert cores["usable_quota"] == 30
    [entry] = germany.json(f"project history {BERLIN_IN_GERMANY} --resource cores")
    assert (entry["what"], entry["old"], entry["new"]) == ("bursting", False, True)
    assert germany.must(f"{switch} --disable-bursting") == "bursting: enabled -> disabled\n"
    both = germany.refused(f"{switch} --enable-bursting --set compute/cores=1")
    assert "cannot be set in the same request" in both


def test_a_project_that_was_not_scraped_yet(login: Login) -> None:
    said = login("cloud-admin").refused("project set paris --set compute/cores=1")
    assert said == "compute/cores: nothing is known yet: try again in a few seconds\n"


def test_a_domain_quota_beyond_the_capacity(admin: User) -> None:
    """201 cores, overcommitted to 301; france has 50."""
    said = (
        "warning: the quotas of all domains for compute/cores add up to 302, but the capacity is 301:"
        " not all of it can be used at the same time\n"
    )
    for command in ("simulate germany --set compute/cores=252", "set germany --set compute/cores=252 --yes"):
        outcome = admin.run(f"domain {command}")
        assert (outcome.status, outcome.errors) == (0, said)
    outcome = admin.run("domain explain germany --resource cores")
    assert (outcome.status, outcome.errors) == (0, said)
