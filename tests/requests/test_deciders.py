"""Who can decide on requests, by name and by role."""

from collections.abc import Callable, Collection
from typing import Any

from limes.app.routes import RULES
from limes.auth.policy import Policy, Rule
from limes.kernel.errors import Unavailable
from tests.api.tour import GROWING_RAM
from tests.api.world import World
from tests.requests.quota_requests import PATHS, act, asked

GERMANS = ["resource_admin"]
CLOUD = ["cloud_resource_admin"]


def deciders(world: World, where: str, id_: int | None = None, token: str = "berlin-reader") -> Any:
    return world.get(f"{PATHS[where]}/{f'quota-requests/{id_}/' if id_ else ''}deciders", token)


def ids(answer: Any) -> list[str]:
    return [each["id"] for each in answer["deciders"]]


def test_each_step_has_its_people(world: World) -> None:
    id_ = asked(world, "berlin", "berlin-member", compute={"cores": 90})
    found = deciders(world, "berlin", id_)
    assert (found["level"], ids(found), found["roles"]) == ("project", ["u6"], ["admin", "resource_admin"])
    act(world, "berlin", id_, "confirm", "berlin-admin")
    found = deciders(world, "berlin", id_)
    assert (found["level"], ids(found), found["roles"], found["more"]) == ("domain", ["u3"], GERMANS, 0)
    above = act(world, "berlin", id_, "pass-on", "germany-admin").json["quota_request"]["id"]
    for found in (deciders(world, "berlin", id_), deciders(world, "germany", above, "germany-viewer")):
        assert (found["level"], found["deciders"]) == ("cluster", [{"id": "u1", "name": "Cloud Admin"}])
        assert (found["roles"], "problem" in found) == (CLOUD, False)
    act(world, "germany", above, "approve", "cloud-admin")
    result = world.request("GET", f"{PATHS['berlin']}/quota-requests/{id_}/deciders", "berlin-reader")
    assert (result.status_code, result.text) == (409, f"quota request {id_} is approved: nobody has to decide on it\n")


def test_who_could_raise_a_quota(world: World) -> None:
    assert (deciders(world, "berlin")["level"], ids(deciders(world, "berlin"))) == ("domain", ["u3"])
    assert ids(deciders(world, "germany", token="germany-viewer")) == ["u1"]


def test_quota_that_grows_is_granted_by_others(make: Callable[..., World]) -> None:
    world = make(distributions=[GROWING_RAM])
    id_ = asked(world, "berlin", compute={"ram": 9000})
    assert ids(deciders(world, "berlin", id_)) == ["u1"]


class Nobody:
    """A Keystone in which nobody has the roles on the project or domain."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, list[str]]] = []

    def named(self, scope: str, uuid: str, roles: Collection[str]) -> tuple[list[tuple[str, str]], int]:
        self.asked.append((scope, uuid, list(roles)))
        return ([("u1", "Cloud Admin")], 12) if scope == "cluster" else ([], 0)


def test_where_a_domain_has_no_admin_the_cloud_s_are_named(make: Callable[..., World]) -> None:
    people = Nobody()
    world = make(people=people)
    found = deciders(world, "berlin", asked(world, "berlin", compute={"cores": 40}))
    assert (found["level"], ids(found), found["more"]) == ("cluster", ["u1"], 12)
    assert people.asked == [("domain", "uuid-for-germany", GERMANS), ("cluster", "", CLOUD)]


class Silent:
    def named(self, scope: str, uuid: str, roles: Collection[str]) -> tuple[list[tuple[str, str]], int]:
        raise Unavailable("cannot ask Keystone for users: no answer")


def test_without_keystone_there_are_the_roles(make: Callable[..., World]) -> None:
    found = deciders(make(people=Silent()), "berlin")
    assert found == {
        "deciders": [],
        "level": "domain",
        "more": 0,
        "roles": GERMANS,
        "problem": "cannot ask Keystone for users: no answer",
    }


def test_the_policy_decides_who_is_named_and_for_whom(make: Callable[..., World]) -> None:
    own = {"project:show_deciders": "rule:project_editor", "project:decide_requests": "role:boss and role:admin"}
    rules = [Rule(rule.name, own.get(rule.name, rule.check), rule.description) for rule in RULES]
    world = make(policy=Policy(rules))
    result = world.request("GET", f"{PATHS['berlin']}/deciders", "berlin-reader")
    assert (result.status_code, result.text) == (
        403,
        "Forbidden: this needs the role admin or resource_admin on the project, or resource_admin on the domain, or"
        " cloud_resource_admin\n",
    )
    found = deciders(world, "berlin", token="berlin-admin")
    assert (found["roles"], found["deciders"]) == ([], []), "no role is enough by itself"
