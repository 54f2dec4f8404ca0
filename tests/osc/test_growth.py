"""Quota that grows by itself: reports, and how far it may grow."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.world import BERLIN, GERMANY
from tests.autogrow.growing import fill_growing
from tests.osc.client import User
from tests.osc.conftest import Cloud, served
from tests.support.databases import SQLiteDatabases
from tests.support.rows import all_rows

BERLIN_IN_GERMANY = f"--domain {GERMANY} {BERLIN}"


@pytest.fixture(scope="module")
def running_cloud(tmp_path_factory: pytest.TempPathFactory, _sqlite_templates: Path) -> Iterator[Cloud]:
    """A server of this file's own, in whose cloud cores grow by themselves."""
    folder = tmp_path_factory.mktemp("growing")
    with served(SQLiteDatabases(folder, _sqlite_templates), folder, GROWING="yes") as cloud:
        yield cloud


@pytest.fixture
def cloud(cloud: Cloud) -> Cloud:
    """The cloud as it was at the beginning."""
    cloud.engine.atomic(lambda: fill_growing(cloud.engine))
    return cloud


def test_a_limit(berlin: User) -> None:
    said = berlin.must(f"project set {BERLIN_IN_GERMANY} --max-quota compute/cores=20")
    assert said == "compute/cores: max quota: none -> 20\n"
    [cores] = berlin.json(f"project show {BERLIN_IN_GERMANY} --resource cores")
    assert (cores["max_quota"], cores["quota"]) == (20, 8)
    table = berlin.must(f"project show {BERLIN_IN_GERMANY} --resource cores")
    assert "Max Quota" in table
    assert "Autogrowth" not in table
    assert "20 (unchanged)" in berlin.must(f"project set {BERLIN_IN_GERMANY} --max-quota compute/cores=20")
    assert berlin.must(f"project set {BERLIN_IN_GERMANY} --max-quota compute/cores=none").endswith(": 20 -> none\n")
    [entry, _] = berlin.json(f"project history {BERLIN_IN_GERMANY} --resource cores")
    assert (entry["what"], entry["old"], entry["new"]) == ("max_quota", 20, None)


def test_what_is_granted(admin: User, berlin: User) -> None:
    said = admin.must(f"project set {BERLIN_IN_GERMANY} --min-quota compute/cores=20")
    assert said == "compute/cores: min quota: none -> 20\n"
    [cores] = berlin.json(f"project show {BERLIN_IN_GERMANY} --resource cores")
    assert cores["min_quota"] == 20
    outcome = admin.run(f"project set {BERLIN_IN_GERMANY} --min-quota compute/cores=1000")
    assert (outcome.status, "maximum acceptable project quota is 270" in outcome.errors) == (1, True)
    outcome = berlin.run(f"project set {BERLIN_IN_GERMANY} --min-quota compute/cores=25")
    assert (outcome.status, "Forbidden" in outcome.errors or "403" in outcome.errors) == (1, True)
    outcome = berlin.run(f"project set {BERLIN_IN_GERMANY} --min-quota compute/cores=2 --max-quota compute/cores=3")
    assert "use two commands" in outcome.errors
    assert admin.must(f"project set {BERLIN_IN_GERMANY} --min-quota compute/cores=none").endswith(": 20 -> none\n")


def test_a_limit_below_what_is_needed(berlin: User) -> None:
    outcome = berlin.run(f"project set {BERLIN_IN_GERMANY} --max-quota compute/cores=2")
    assert outcome.status == 0
    assert "usage and commitments need 5; the limit of 2 takes effect when they need no more" in outcome.errors


def test_no_growth(berlin: User) -> None:
    forbid = f"project set {BERLIN_IN_GERMANY} --forbid-autogrowth compute/cores"
    assert berlin.must(forbid) == "compute/cores: autogrowth: allowed -> forbidden\n"
    assert berlin.must(forbid) == "compute/cores: autogrowth: forbidden (unchanged)\n"
    assert "| forbidden" in berlin.must(f"project show {BERLIN_IN_GERMANY} --resource cores")
    allowed = berlin.must(f"project set {BERLIN_IN_GERMANY} --allow-autogrowth compute/cores")
    assert allowed == "compute/cores: autogrowth: forbidden -> allowed\n"


def test_all_projects_of_a_domain(germany: User) -> None:
    outcome = germany.run(f"domain set {GERMANY} --max-quota compute/cores=20")
    assert (outcome.status, outcome.out) == (0, "compute/cores: max quota in all projects: 20\n")
    assert "need more than 20 in 1 project" in outcome.errors
    shown = {
        one["project_name"]: one["max_quota"]
        for one in germany.json(f"project list --domain {GERMANY} --resource cores")
    }
    assert shown == {"berlin": 20, "dresden": 20}
    said = germany.must(f"domain set {GERMANY} --forbid-autogrowth compute/cores")
    assert said == "compute/cores: autogrowth in all projects: forbidden\n"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("--max-quota compute/ram=1GiB", "does not grow by itself (quota_distribution_model is hierarchical)"),
        ("--max-quota compute/cores=5GiB", "compute/cores: '5GiB' has a unit"),
        ("--max-quota compute/nope=5", "compute/nope: compute has no such resource"),
        ("--max-quota cores=5", "--max-quota cores=5: expected <service>/<resource>=<amount>"),
        ("--max-quota compute/cores=5 --set compute/ram=2GiB", "cannot be set in the same request"),
        ("--max-quota compute/cores=5 --forbid-autogrowth compute/cores", "use two commands"),
        ("--max-quota compute/cores=5 --enable-bursting", "cannot be set in the same request"),
        ("--allow-autogrowth compute/cores --forbid-autogrowth compute/cores", "both forbidden and allowed"),
        ("--set compute/cores=9", "it follows usage and commitments by itself"),
    ],
)
def test_what_cannot_be_asked_for(cloud: Cloud, berlin: User, options: str, problem: str) -> None:
    before = all_rows(cloud.engine)
    assert problem in berlin.refused(f"project set {BERLIN_IN_GERMANY} {options}")
    assert all_rows(cloud.engine) == before


def test_quota_by_az(berlin: User) -> None:
    rows = berlin.json(f"project show {BERLIN_IN_GERMANY} --resource cores --per-az")
    assert [(one["az"], one["quota"], one["usage"]) for one in rows] == [("az-one", 3, 2), ("az-two", 5, 3)]
    table = berlin.must(f"project show {BERLIN_IN_GERMANY} --resource ram --per-az")
    assert "Quota" not in table, "only what grows by itself has one for each AZ"


def test_why_it_cannot_be_set(berlin: User) -> None:
    [cores] = berlin.json(f"project explain {BERLIN_IN_GERMANY} --resource cores")
    assert (cores["min_rule"], cores["max_rule"]) == ("quota_distribution_model",) * 2


def test_what_it_is_made_of_and_what_would_raise_it(berlin: User) -> None:
    """5 are used, 2 and 3; each grows by half of it, by 1 at least. 5 is the base quota."""
    [cores] = berlin.json(f"project explain {BERLIN_IN_GERMANY} --resource compute/cores")
    assert [(step["step"], step["quota"]) for step in cores["made_of"]] == [("needed", 5), ("growth", 2)]
    assert "commit" in {advice["action"] for advice in cores["raised_by"]}
    table = berlin.must(f"project explain {BERLIN_IN_GERMANY} --resource compute/cores")
    assert "5 needed now" in table
    assert "commit to 3 more in az-one" in table
