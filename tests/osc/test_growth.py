"""Quota that grows by itself: reports, and how far it may grow."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.api.growing import fill_growing
from tests.api.server import serve
from tests.api.world import BERLIN, GERMANY
from tests.osc.client import OpenStackClient, User
from tests.osc.conftest import Cloud
from tests.support.databases import SQLiteDatabases
from tests.support.rows import all_rows

BERLIN_IN_GERMANY = f"--domain {GERMANY} {BERLIN}"


@pytest.fixture(scope="module")
def running_growing_cloud(tmp_path_factory: pytest.TempPathFactory, _sqlite_templates: Path) -> Iterator[Cloud]:
    """A server of this file's own, in whose cloud cores grow by themselves."""
    folder = tmp_path_factory.mktemp("growing")
    databases = SQLiteDatabases(folder, _sqlite_templates)
    url = databases.migrated(limes_migrations)
    port, process = serve(url, folder, GROWING="yes")
    with process:
        engine = Engine(url)
        yield Cloud(f"http://127.0.0.1:{port}", engine)
        engine.close()


@pytest.fixture
def cloud(running_growing_cloud: Cloud) -> Cloud:
    """The cloud as it was at the beginning."""
    running_growing_cloud.reset()
    engine = running_growing_cloud.engine
    engine.atomic(lambda: fill_growing(engine))
    return running_growing_cloud


def user(cloud: Cloud, openstack: OpenStackClient, token: str) -> User:
    return User(openstack, {"OS_AUTH_TYPE": "admin_token", "OS_ENDPOINT": cloud.url, "OS_TOKEN": token})


@pytest.fixture
def admin(cloud: Cloud, openstack: OpenStackClient) -> User:
    """The admin of berlin."""
    return user(cloud, openstack, "berlin-admin")


def test_a_limit(admin: User) -> None:
    said = admin.must(f"project set {BERLIN_IN_GERMANY} --max-quota compute/cores=20")
    assert said == "compute/cores: max quota: none -> 20\n"
    [cores] = admin.json(f"project show {BERLIN_IN_GERMANY} --resource cores")
    assert (cores["max_quota"], cores["quota"]) == (20, 8)
    table = admin.must(f"project show {BERLIN_IN_GERMANY} --resource cores")
    assert "Max Quota" in table
    assert "Autogrowth" not in table
    assert "20 (unchanged)" in admin.must(f"project set {BERLIN_IN_GERMANY} --max-quota compute/cores=20")
    assert admin.must(f"project set {BERLIN_IN_GERMANY} --max-quota compute/cores=none").endswith(": 20 -> none\n")
    [entry, _] = admin.json(f"project history {BERLIN_IN_GERMANY} --resource cores")
    assert (entry["what"], entry["old"], entry["new"]) == ("max_quota", 20, None)


def test_what_is_granted(cloud: Cloud, openstack: OpenStackClient, admin: User) -> None:
    cloud_admin = user(cloud, openstack, "cloud-admin")
    said = cloud_admin.must(f"project set {BERLIN_IN_GERMANY} --min-quota compute/cores=20")
    assert said == "compute/cores: min quota: none -> 20\n"
    [cores] = admin.json(f"project show {BERLIN_IN_GERMANY} --resource cores")
    assert cores["min_quota"] == 20
    outcome = cloud_admin.run(f"project set {BERLIN_IN_GERMANY} --min-quota compute/cores=1000")
    assert (outcome.status, "maximum acceptable project quota is 270" in outcome.errors) == (1, True)
    outcome = admin.run(f"project set {BERLIN_IN_GERMANY} --min-quota compute/cores=25")
    assert (outcome.status, "Forbidden" in outcome.errors or "403" in outcome.errors) == (1, True)
    outcome = admin.run(f"project set {BERLIN_IN_GERMANY} --min-quota compute/cores=2 --max-quota compute/cores=3")
    assert "use two commands" in outcome.errors
    assert cloud_admin.must(f"project set {BERLIN_IN_GERMANY} --min-quota compute/cores=none").endswith(
        ": 20 -> none\n"
    )


def test_a_limit_below_what_is_needed(admin: User) -> None:
    outcome = admin.run(f"project set {BERLIN_IN_GERMANY} --max-quota compute/cores=2")
    assert outcome.status == 0
    assert "usage and commitments need 5; the limit of 2 takes effect when they need no more" in outcome.errors


def test_no_growth(admin: User) -> None:
    forbid = f"project set {BERLIN_IN_GERMANY} --forbid-autogrowth compute/cores"
    assert admin.must(forbid) == "compute/cores: autogrowth: allowed -> forbidden\n"
    assert admin.must(forbid) == "compute/cores: autogrowth: forbidden (unchanged)\n"
    assert "| forbidden" in admin.must(f"project show {BERLIN_IN_GERMANY} --resource cores")
    allowed = admin.must(f"project set {BERLIN_IN_GERMANY} --allow-autogrowth compute/cores")
    assert allowed == "compute/cores: autogrowth: forbidden -> allowed\n"


def test_all_projects_of_a_domain(cloud: Cloud, openstack: OpenStackClient) -> None:
    admin = user(cloud, openstack, "germany-admin")
    outcome = admin.run(f"domain set {GERMANY} --max-quota compute/cores=20")
    assert (outcome.status, outcome.out) == (0, "compute/cores: max quota in all projects: 20\n")
    assert "need more than 20 in 1 project" in outcome.errors
    shown = {
        one["project_name"]: one["max_quota"] for one in admin.json(f"project list --domain {GERMANY} --resource cores")
    }
    assert shown == {"berlin": 20, "dresden": 20}
    said = admin.must(f"domain set {GERMANY} --forbid-autogrowth compute/cores")
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
def test_what_cannot_be_asked_for(cloud: Cloud, admin: User, options: str, problem: str) -> None:
    before = all_rows(cloud.engine)
    assert problem in admin.refused(f"project set {BERLIN_IN_GERMANY} {options}")
    assert all_rows(cloud.engine) == before


def test_quota_by_az(admin: User) -> None:
    rows = admin.json(f"project show {BERLIN_IN_GERMANY} --resource cores --per-az")
    assert [(one["az"], one["quota"], one["usage"]) for one in rows] == [("az-one", 3, 2), ("az-two", 5, 3)]
    table = admin.must(f"project show {BERLIN_IN_GERMANY} --resource ram --per-az")
    assert "Quota" not in table, "only what grows by itself has one for each AZ"


def test_why_it_cannot_be_set(admin: User) -> None:
    [cores] = admin.json(f"project explain {BERLIN_IN_GERMANY} --resource cores")
    assert (cores["min_rule"], cores["max_rule"]) == ("quota_distribution_model",) * 2


def test_what_it_is_made_of_and_what_would_raise_it(admin: User) -> None:
    """5 are used, 2 and 3; each grows by half of it, by 1 at least. 5 is the base quota."""
    [cores] = admin.json(f"project explain {BERLIN_IN_GERMANY} --resource compute/cores")
    assert [(step["step"], step["quota"]) for step in cores["made_of"]] == [("needed", 5), ("growth", 2)]
    assert "commit" in {advice["action"] for advice in cores["raised_by"]}
    table = admin.must(f"project explain {BERLIN_IN_GERMANY} --resource compute/cores")
    assert "5 needed now" in table
    assert "commit to 3 more in az-one" in table
