"""What limits a quota: constraints, smallest quotas, low-privilege raises, usage, and what the backend accepts."""

from collections.abc import Callable

import pytest

from limes.catalog.catalog import BehaviorRule
from limes.quota.constraints import Constraint, ConstraintSet
from limes.quota.rules import LowPrivLimit, LowPrivRules
from tests.api.world import DRESDEN, World
from tests.quota.quotas import DOMAIN, PROJECT, body, put


@pytest.mark.sql
def test_constraints_and_minimum(make: Callable[..., World]) -> None:
    world = make(
        constraints=ConstraintSet(
            domains={"germany": {("compute", "cores"): Constraint(90, None)}},
            projects={"germany/berlin": {("compute", "ram"): Constraint(None, 2048)}},
        ),
        behaviors=[BehaviorRule(resource="compute/cores", min_nonzero_project_quota=10)],
    )
    result, _ = put(world, PROJECT, body("project", compute={"cores": 6, "ram": 3000}))
    assert (result.status_code, result.text) == (
        422,
        "cannot change compute/cores quota: must allocate at least 10 quota (minimum acceptable project quota is 10)\n"
        'cannot change compute/ram quota: requested value "3000 MiB" contradicts constraint "at most 2048 MiB" for this'
        " project and resource (maximum acceptable project quota is 2048 MiB)\n",
    )
    result, _ = put(world, DOMAIN, body("domain", compute={"cores": 80}))
    assert result.status_code == 422


def test_low_privilege_raise(make: Callable[..., World]) -> None:
    world = make(
        lowpriv=LowPrivRules(
            projects={("compute", "cores"): LowPrivLimit(amount=25)},
            domains={("compute", "cores"): LowPrivLimit(until_percent_assigned=100)},
        )
    )
    assert put(world, PROJECT, body("project", compute={"cores": 25}), "berlin-admin")[0].status_code == 202
    result, _ = put(world, PROJECT, body("project", compute={"cores": 26}), "berlin-admin")
    assert (result.status_code, result.text) == (
        403,
        'cannot change compute/cores quota: user is not allowed to raise "compute" quotas that high in this project'
        " (maximum acceptable project quota is 25)\nquotas of a project are changed by users with the role resource_admin"
        " on the domain, or cloud_resource_admin; a quota request asks them for more\n",
    )
    # 201 capacity - 50 for france
    assert put(world, DOMAIN, body("domain", compute={"cores": 151}), "germany-admin")[0].status_code == 202
    assert put(world, DOMAIN, body("domain", compute={"cores": 152}), "germany-admin")[0].status_code == 403


def test_raising_towards_a_usage_that_is_above(world: World) -> None:
    path = f"{DOMAIN}/projects/{DRESDEN}"
    world.run("UPDATE project_resources SET usage = 60 WHERE project_id = 2")
    assert put(world, path, body("project", compute={"cores": 40}))[0].status_code == 202
    assert put(world, path, body("project", compute={"cores": 39}))[0].status_code == 409


@pytest.mark.parametrize(
    ("low", "high", "wanted", "message"),
    [
        (None, 25, 26, "not acceptable for this project (maximum acceptable project quota is 25)"),
        (None, 25, 25, None),
        (15, None, 14, "not acceptable for this project (minimum acceptable project quota is 15)"),
        (15, None, 15, None),
        (0, 0, 21, "not acceptable for this project (minimum acceptable project quota is 0, maximum acceptable project quota is 0)"),
        (0, 0, 20, None),  # what it has already can stay
    ],
)  # fmt: skip
def test_what_the_backend_does_not_accept(
    world: World, low: int | None, high: int | None, wanted: int, message: str | None
) -> None:
    world.run(
        "UPDATE project_resources SET min_backend_quota = %s, max_backend_quota = %s WHERE project_id = 1"
        " AND resource_id = (SELECT id FROM resources WHERE name = 'cores')",
        [low, high],
    )
    document = body("project", compute={"cores": wanted})
    simulated = world.request("POST", f"{PROJECT}/simulate-put", json=document)
    result, changed = put(world, PROJECT, document)
    if message is None:
        assert (simulated.status_code, result.status_code) == (200, 202), result.text
        return
    assert (simulated.status_code, result.status_code, changed) == (422, 422, {})
    assert result.text == f"cannot change compute/cores quota: {message}\n"
    (refusal,) = simulated.json["unacceptable_resources"]
    assert (refusal.get("min_acceptable_quota"), refusal.get("max_acceptable_quota")) == (low, high)
    assert "unit" not in refusal
