"""The rules of the configuration as they meet requests: strict limits, capacity with overcommit, scopes, domains."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from limes.catalog.catalog import BehaviorRule, DistributionRule
from limes.quota.rules import LowPrivLimit, LowPrivRules
from tests.api.world import DRESDEN, FRANCE, World
from tests.quota.quotas import DOMAIN, PROJECT, request_quotas

CORES = ("compute", "cores")
OVERCOMMIT = BehaviorRule(resource="compute/cores", overcommit_factor=1.5)
"""Of 201 cores, so that there are 301."""


def put(
    world: World, path: str, cores: int, token: str = "cloud-admin", resource: str = "cores", service: str = "compute"
) -> tuple[Any, Any]:
    """Status and text of a PUT; simulate-put has to say the same."""
    quotas = {resource: cores}
    simulated = request_quotas(world, f"{path}/simulate-put", quotas, token, service=service, method="POST")
    result = request_quotas(world, path, quotas, token, service=service)
    assert (simulated.status_code, result.status_code) in ((200, 202), (result.status_code, result.status_code))
    for refusal in simulated.json.get("unacceptable_resources", ()):
        assert refusal["message"] in result.text
    return result.status_code, result.text


def strict(make: Callable[..., World], **options: Any) -> World:
    return make(distributions=[DistributionRule(re.compile("compute/(cores|gpus)"), strict_domain_quota_limit=True)], **options)  # fmt: skip


@pytest.mark.parametrize(("behaviors", "left"), [([], 151), ([OVERCOMMIT], 251)])
def test_a_strict_limit_is_what_other_domains_leave_of_the_capacity(
    make: Callable[..., World], behaviors: list[Any], left: int
) -> None:
    """France has 50. Other resources have no such limit."""
    world = strict(make, behaviors=behaviors)
    status, text = put(world, DOMAIN, left + 1)
    assert (status, text) == (
        409,
        "cannot change compute/cores quota: cluster capacity may not be exceeded for this resource"
        f" (maximum acceptable domain quota is {left})\n",
    )
    assert put(world, DOMAIN, left) == (202, "")
    assert put(world, f"/v1/domains/{FRANCE}", 51)[0] == 409
    assert put(world, DOMAIN, 10**6, resource="ram")[0] == 202


def test_without_capacity_a_strict_limit_lets_nothing_be_raised(make: Callable[..., World]) -> None:
    world = strict(make)
    world.run("DELETE FROM az_resources")
    status, text = put(world, DOMAIN, 101)
    assert (status, "maximum acceptable domain quota is 0" in text) == (409, True)
    assert put(world, DOMAIN, 60) == (202, ""), "lowering makes nothing worse"


@pytest.mark.parametrize(("behaviors", "limit"), [([], 40), ([OVERCOMMIT], 60)])
def test_a_share_of_the_capacity_is_one_of_what_can_be_given_out(
    make: Callable[..., World], behaviors: list[Any], limit: int
) -> None:
    """20 % of 201 or 301 cores."""
    share = {CORES: LowPrivLimit(percent_of_capacity=20)}
    world = make(lowpriv=LowPrivRules(projects=share), behaviors=behaviors)
    assert put(world, PROJECT, limit + 1, "berlin-admin")[0] == 403
    assert put(world, PROJECT, limit, "berlin-admin") == (202, "")
    share = {CORES: LowPrivLimit(percent_of_capacity=60)}
    world = make(lowpriv=LowPrivRules(domains=share), behaviors=behaviors, fill=False)
    assert put(world, DOMAIN, 3 * limit + 1, "germany-admin")[0] == 403
    assert put(world, DOMAIN, 3 * limit, "germany-admin") == (202, "")


@pytest.mark.parametrize(
    ("patterns", "status"),
    [
        ({}, 202),
        ({"except_projects_in_domains": "erman"}, 403),
        ({"except_projects_in_domains": "^erman"}, 202),
        ({"only_projects_in_domains": "erman"}, 202),
        ({"only_projects_in_domains": "^france$"}, 403),
        ({"except_projects_in_domains": "many$", "only_projects_in_domains": "germany"}, 403),
    ],
)
def test_domains_whose_projects_may_not_raise_by_themselves(
    make: Callable[..., World], patterns: dict[str, Any], status: int
) -> None:
    limits = {key: re.compile(pattern) for key, pattern in patterns.items()}
    world = make(lowpriv=LowPrivRules(projects={CORES: LowPrivLimit(amount=30)}, **limits))
    assert put(world, PROJECT, 21, "berlin-admin")[0] == status


def test_a_smallest_quota_of_one_project(make: Callable[..., World]) -> None:
    """And never of a domain."""
    rules = [BehaviorRule(resource="compute/.*", scope=scope, min_nonzero_project_quota=60) for scope in ("germany", "germany/berlin")]  # fmt: skip
    world = make(behaviors=rules)
    assert put(world, PROJECT, 21)[0] == 422
    assert put(world, f"{DOMAIN}/projects/{DRESDEN}", 33) == (202, "")
    assert put(world, DOMAIN, 59) == (202, "")


@pytest.mark.sql
def test_a_new_quota_is_not_made_to_wait_for_what_failed_before(world: World) -> None:
    def failures() -> set[Any]:
        return {
            count for (count,) in world.engine.rows("SELECT push_failures FROM project_services WHERE project_id = 1")
        }

    world.run("UPDATE project_services SET push_failures = 5")
    assert put(world, PROJECT, 21) == (202, "")
    assert failures() == {0, 5}, "that of the other service did not change"
