"""Help with stories about requests for more quota: short words for what people do with them."""

from typing import Any

from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS, World
from tests.quota.quotas import body, resources

PATHS = {
    "germany": f"/v1/domains/{GERMANY}",
    "berlin": f"/v1/domains/{GERMANY}/projects/{BERLIN}",
    "dresden": f"/v1/domains/{GERMANY}/projects/{DRESDEN}",
    "paris": f"/v1/domains/{FRANCE}/projects/{PARIS}",
}


def services(**quotas: Any) -> list[Any]:
    """`services(compute={"cores": 30, "ram": (1, "GiB")})`"""
    found: list[Any] = body("any", **quotas)["any"]["services"]
    return found


def ask(world: World, where: str, token: str = "berlin-admin", reason: str = "launch", **quotas: Any) -> Any:
    """Asks for quota."""
    document = {"quota_request": {"services": services(**quotas), "reason": reason}}
    return world.request("POST", f"{PATHS[where]}/quota-requests", token, json=document)


def asked(world: World, where: str, token: str = "berlin-admin", **quotas: Any) -> int:
    """Asks for quota, and returns the number of the request."""
    result = ask(world, where, token, **quotas)
    assert result.status_code == 201, result.text
    return int(result.json["quota_request"]["id"])


def act(world: World, where: str, id_: int, verb: str, token: str, **document: Any) -> Any:
    """Approves, rejects and the like."""
    return world.request("POST", f"{PATHS[where]}/quota-requests/{id_}/{verb}", token, json=document)


def show(world: World, where: str, id_: int, token: str = "cloud-admin") -> Any:
    """One request."""
    return world.get(f"{PATHS[where]}/quota-requests/{id_}", token)["quota_request"]


def status(world: World, where: str, id_: int) -> str:
    """The status of a request."""
    return str(show(world, where, id_)["status"])


def kinds(world: World, where: str, id_: int) -> list[str]:
    """What has happened to a request."""
    return [event["kind"] for event in show(world, where, id_)["conversation"]]


def quota(world: World, where: str = "berlin", resource: str = "cores") -> int:
    """The present quota."""
    return int(resources(world, PATHS[where])[resource]["quota"])
