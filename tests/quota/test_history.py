"""The history of quotas, and explanations of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from limes.app.routes import RULES
from limes.auth.policy import Policy
from limes.catalog.catalog import BehaviorRule
from limes.kernel.units import MAX_AMOUNT
from limes.quota.constraints import Constraint, ConstraintSet
from limes.quota.rules import LowPrivLimit, LowPrivRules
from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS, World
from tests.commitments.commitments import BEHAVIORS, commit
from tests.quota.quotas import DOMAIN, PROJECT, request_quotas

CORES = ("compute", "cores")


def put(world: World, path: str = PROJECT, token: str = "cloud-admin", status: int = 202, **resources: int) -> Any:
    result = request_quotas(world, path, resources, token)
    assert result.status_code == status, result.text
    return result


def history(world: World, query: str = "", path: str = PROJECT, token: str = "cloud-admin") -> Any:
    return world.get(f"{path}/history{query}", token)["history"]


def values(changes: Any) -> list[Any]:
    return [(change.get("resource"), change["old"], change["new"]) for change in changes]


@pytest.mark.sql
def test_what_when_who_and_why(world: World) -> None:
    result = put(world, cores=25, ram=2000, token="germany-admin")
    world.clock.advance(60)
    put(world, cores=24)
    assert world.get(f"{PROJECT}/history")["history_links"] == []
    latest, ram, first = sorted(history(world), key=lambda change: (change["at"], change["resource"]), reverse=True)
    assert first.pop("number") < ram.pop("number") < latest.pop("number")
    assert first == {
        "at": 1767225600,
        "what": "quota",
        "service": "compute",
        "resource": "cores",
        "old": 20,
        "new": 25,
        "reason": "request",
        "initiator": {"type": "user", "id": "u3", "name": ""},
        "request_id": result.headers["x-openstack-request-id"],
    }
    assert (ram["unit"], ram["old"], ram["new"]) == ("MiB", 1024, 2000)
    assert (latest["at"], latest["old"], latest["new"]) == (1767225660, 25, 24)
    assert latest["initiator"] == {"type": "user", "id": "u1", "name": "Cloud Admin"}


def test_domains_have_their_own(world: World) -> None:
    put(world, cores=25)
    put(world, DOMAIN, cores=150)
    put(world, f"{DOMAIN}/projects/{DRESDEN}", cores=40)
    assert values(history(world, path=DOMAIN)) == [("cores", 100, 150)]
    assert values(history(world)) == [("cores", 20, 25)]
    assert history(world, path=f"/v1/domains/{FRANCE}") == []
    assert history(world, path=f"/v1/domains/{FRANCE}/projects/{PARIS}") == []


@pytest.mark.sql
def test_filters(make: Callable[..., World]) -> None:
    world = make(burst_multiplier=0.2)
    put(world, cores=25, ram=2000)
    assert world.request("PUT", PROJECT, json={"project": {"bursting": {"enabled": True}}}).status_code == 202
    switched = (None, False, True)
    assert values(history(world, "?service=compute&resource=ram")) == [switched, ("ram", 1024, 2000)]
    assert values(history(world, "?area=storage")) == [switched]
    assert values(history(world, "?service=unheard-of")) == []
    assert len(history(world)) == 3


@pytest.mark.sql
def test_pages(world: World) -> None:
    for cores in range(21, 28):
        put(world, cores=cores)
    path, seen = f"{PROJECT}/history?limit=3&resource=cores", []
    while True:
        page = world.get(path)
        assert len(page["history"]) <= 3
        seen += [change["new"] for change in page["history"]]
        if not page["history_links"]:
            break
        (link,) = page["history_links"]
        assert link["rel"] == "next"
        path = link["href"]
        put(world, cores=19 + len(seen))  # what comes meanwhile shifts nothing
    assert seen == [27, 26, 25, 24, 23, 22, 21]


# -- explanations ------------------------------------------------------------------------------------------------------


def explain(world: World, resource: str = "cores", path: str = PROJECT, token: str = "cloud-admin") -> Any:
    (found,) = world.get(f"{path}/explain?service=compute&resource={resource}", token)["explanations"]
    return found


def test_a_project_quota_is_explained(world: World) -> None:
    result = put(world, cores=25, token="germany-admin")
    found = explain(world)
    origin = found.pop("origin")
    assert (origin["old"], origin["new"], origin["request_id"]) == (20, 25, result.headers["x-openstack-request-id"])
    assert found == {
        "service": "compute",
        "resource": "cores",
        "quota": 25,
        "usage": 5,
        "committed": 0,
        "projects_quota": 55,
        "domain_quota": 100,
        "capacity": 201,
        "min_acceptable_quota": {"quota": 5, "rule": "usage", "message": "quota may not be lower than current usage"},
        "max_acceptable_quota": {"quota": 70, "rule": "domain_quota", "message": "domain quota exceeded"},
    }


def test_a_domain_quota_is_explained(world: World) -> None:
    found = explain(world, path=DOMAIN)
    assert found == {
        "service": "compute",
        "resource": "cores",
        "quota": 100,
        "projects_quota": 50,
        "other_domains_quota": 50,
        "capacity": 201,
        "min_acceptable_quota": {
            "quota": 50,
            "rule": "projects_quota",
            "message": "domain quota may not be smaller than sum of project quotas in that domain",
        },
        "max_acceptable_quota": {
            "quota": MAX_AMOUNT,
            "rule": "amount",
            "message": "this is the largest amount there is",
        },
    }


def bounds(world: World, **where: str) -> list[Any]:
    found = explain(world, **where)
    return [
        (found[f"{end}_acceptable_quota"]["quota"], found[f"{end}_acceptable_quota"]["rule"]) for end in ("min", "max")
    ]


def test_permissions_bound_it(world: World) -> None:
    assert bounds(world, token="berlin-member") == [(20, "permission"), (20, "permission")]
    assert bounds(world, token="berlin-admin") == [(5, "usage"), (20, "permission")]


def test_low_privilege_limits_bound_it(make: Callable[..., World]) -> None:
    world = make(lowpriv=LowPrivRules(projects={CORES: LowPrivLimit(amount=30)}))
    assert bounds(world, token="berlin-admin") == [(5, "usage"), (30, "permission")]


def test_constraints_bound_it(make: Callable[..., World]) -> None:
    constraint = {f"germany/{name}": {CORES: Constraint(minimum=10, maximum=40)} for name in ("berlin", "dresden")}
    world = make(constraints=ConstraintSet(projects=constraint))
    assert bounds(world) == [(10, "constraint"), (40, "constraint")]
    assert explain(world)["constraint"] == "at least 10, at most 40"
    assert bounds(world, path=f"{DOMAIN}/projects/{DRESDEN}") == [(30, "usage"), (40, "constraint")]


def test_commitments_and_minima_bound_it(make: Callable[..., World]) -> None:
    minimum = BehaviorRule(resource="compute/ram", min_nonzero_project_quota=700)
    world = make(behaviors=[*BEHAVIORS, minimum])
    commit(world, amount=12)
    assert bounds(world)[0] == (12, "commitments")
    assert explain(world)["committed"] == 12
    found = explain(world, "ram")
    assert (found["unit"], found["min_nonzero_project_quota"]) == ("MiB", 700)
    assert bounds(world, resource="ram")[0] == (700, "min_nonzero_project_quota")


def test_origins_are_for_who_may_see_the_history(make: Callable[..., World], tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text('"project:show_history": "rule:project_editor"\n"domain:show_history": "rule:domain_editor"\n')
    world = make(policy=Policy(RULES, path))
    put(world, cores=25)
    put(world, DOMAIN, cores=150)
    for where, tokens in ((PROJECT, ("berlin-admin", "berlin-member")), (DOMAIN, ("germany-admin", "germany-viewer"))):
        shown = ["origin" in explain(world, path=where, token=token) for token in tokens]
        statuses = [world.request("GET", f"{where}/history", token).status_code for token in tokens]
        assert (shown, statuses) == ([True, False], [200, 403])


def test_the_origin_is_what_made_the_quota(world: World) -> None:
    """And not what a backend was told again later."""
    put(world, cores=25)
    sql = (
        "INSERT INTO quota_history (at, domain_uuid, project_uuid, service_type, resource_name, what, old, new, reason,"
        " detail, initiator_id, initiator_name, request_id)"
        " VALUES (1767225601, %s, %s, 'compute', 'cores', 'backend_quota', 7, 25, 'backend-drift', '', '', 'scrape', 'job')"
    )
    world.run(sql, [GERMANY, BERLIN])
    assert [change["what"] for change in history(world)] == ["backend_quota", "quota"]
    assert (explain(world)["origin"]["what"], explain(world)["origin"]["new"]) == ("quota", 25)


def test_bursting_is_explained(make: Callable[..., World]) -> None:
    here = BehaviorRule(resource="compute/ram", scope="germany/berlin", max_burst_multiplier=0)
    world = make(burst_multiplier=0.2, behaviors=[here])
    assert "usable_quota" not in explain(world)
    world.request("PUT", PROJECT, json={"project": {"bursting": {"enabled": True}}})
    assert explain(world)["usable_quota"] == 24
    assert explain(world, "ram")["usable_quota"] == 1024, "it does not burst in this project"


def test_what_has_no_quota_is_left_out(world: World) -> None:
    names = [explanation["resource"] for explanation in world.get(f"{PROJECT}/explain")["explanations"]]
    assert names == ["cores", "ram", "capacity"]
    assert world.get(f"/v1/domains/{FRANCE}/projects/{PARIS}/explain") == {"explanations": []}
    assert world.get(f"{PROJECT}/explain?resource=gpus") == {"explanations": []}


@pytest.mark.parametrize("token", ["cloud-admin", "germany-admin", "berlin-admin", "berlin-member"])
@pytest.mark.parametrize("level", ["project", "domain"])
def test_simulate_put_agrees(make: Callable[..., World], token: str, level: str) -> None:
    path = {"project": PROJECT, "domain": DOMAIN}[level]
    world = make(
        lowpriv=LowPrivRules(projects={CORES: LowPrivLimit(amount=30)}, domains={CORES: LowPrivLimit(amount=120)}),
        constraints=ConstraintSet(domains={"germany": {CORES: Constraint(maximum=130)}}),
    )
    if level == "domain" and token.startswith("berlin"):
        assert world.request("GET", f"{path}/explain", token).status_code == 403
        return
    found = explain(world, path=path, token=token)
    lowest, highest = found["min_acceptable_quota"], found["max_acceptable_quota"]

    def simulate(quota: int) -> Any:
        return request_quotas(world, f"{path}/simulate-put", {"cores": quota}, token, method="POST").json

    for bound, beyond in ((lowest, lowest["quota"] - 1), (highest, highest["quota"] + 1)):
        assert simulate(bound["quota"])["success"]
        if 0 <= beyond <= MAX_AMOUNT:
            (refusal,) = simulate(beyond)["unacceptable_resources"]
            assert refusal["message"] == bound["message"]
