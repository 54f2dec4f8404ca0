"""Services, areas and resources that do not exist are errors, with what may have been meant."""

import pytest

from tests.osc.client import User
from tests.osc.conftest import Cloud, Login

LISTS = (
    "cluster show",
    "domain list",
    "domain show germany",
    "domain explain germany",
    "domain history germany",
    "project list --domain germany",
    "project show berlin",
    "project explain berlin",
    "project history berlin",
    "commitment list --project berlin",
    "commitment offer list",
    "commitment utilisation list --project berlin",
    "alert list --all-domains",
    "change list --all-domains",
    "inconsistency list",
    "scrape error list",
)


@pytest.mark.parametrize("command", LISTS)
def test_every_list_refuses_them(cloud: Cloud, admin: User, command: str) -> None:
    outcome = admin.run(f"{command} --resource nope --resource compute/core --service compotue --area storag")
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.errors == (
        "--service compotue: there is no such service; did you mean compute?\n"
        "--area storag: there is no such area; did you mean storage?\n"
        "--resource nope: there is no such resource; there are: capacity, cores, gpus, ram\n"
        "--resource compute/core: compute has no such resource; did you mean cores?\n"
    )


def test_names_that_exist_are_no_errors_even_where_nothing_is_found(login: Login) -> None:
    berlin = login("berlin-member")
    for filters in ("--resource gpus", "--service volume --area storage", "--resource compute/ram --resource capacity"):
        assert berlin.json(f"commitment list {filters}") == []
    assert berlin.json("project show --service compute --resource capacity") == []


def test_a_resource_of_another_service(login: Login) -> None:
    said = login("cloud-admin").refused("project show berlin --resource volume/cores --resource nova/cores")
    assert said == (
        "--resource volume/cores: there is no such resource; did you mean compute/cores?\n"
        "--resource nova/cores: there is no such resource; did you mean compute/cores?\n"
    )


def test_quotas_of_resources_that_do_not_exist(login: Login) -> None:
    admin = login("germany-admin")
    said = admin.refused("project set berlin --set compute/corse=5 --set compote/swap=1")
    assert said == (
        "compute/corse: compute has no such resource; did you mean cores?\n"
        "compote/swap: there is no such service; did you mean compute?\n"
    )
