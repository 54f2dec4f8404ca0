"""Help with stories about commitments: the small cloud with committable resources, and short words for requests.

cores are committed per AZ (az-one: capacity 100, berlin uses 2 and dresden 31; az-two: 101, berlin uses 3), ram for the
whole region (8192 MiB, berlin uses 512).
"""

from typing import Any

from limes.catalog.catalog import BehaviorRule
from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS, World

BEHAVIORS = [
    BehaviorRule(resource="compute/cores", commitment_durations=("1 hour", "1 year"), commitment_is_az_aware=True),
    BehaviorRule(resource="compute/ram", commitment_durations=("1 year", "2 years")),
    BehaviorRule(resource="volume/capacity", commitment_durations=("1 year",), commitment_is_az_aware=True),
]


def cores_from(date: float, *durations: str) -> BehaviorRule:
    """Commitments to cores that are confirmed from a date on."""
    return BEHAVIORS[0].model_copy(
        update={"commitment_durations": durations or ("1 hour",), "commitment_min_confirm_date": float(date)}
    )


PATHS = {
    "berlin": f"/v1/domains/{GERMANY}/projects/{BERLIN}",
    "dresden": f"/v1/domains/{GERMANY}/projects/{DRESDEN}",
    "paris": f"/v1/domains/{FRANCE}/projects/{PARIS}",
}
CORES = {
    "service_type": "compute",
    "resource_name": "cores",
    "availability_zone": "az-one",
    "amount": 10,
    "duration": "1 hour",
}
NOW = 1767225600
"""2026-01-01T00:00:00Z, when the world's clock stands."""
YEAR_2027 = 1798761600
"""2027-01-01T00:00:00Z."""


def ask(world: World, project: str, what: str, token: str = "cloud-admin", **fields: Any) -> Any:
    """POSTs a wanted commitment to `new`, `can-confirm` and the like."""
    headers = fields.pop("headers", {})
    path = f"{PATHS[project]}/commitments/{what}"
    return world.request("POST", path, token, json={"commitment": {**CORES, **fields}}, headers=headers)


def commit(world: World, project: str = "berlin", **fields: Any) -> dict[str, Any]:
    """Makes a commitment and answers it."""
    result = ask(world, project, "new", **fields)
    assert result.status_code == 201, result.text
    document: dict[str, Any] = result.json["commitment"]
    return document


def with_volumes(world: World, capacity: int = 20) -> World:
    """There is capacity for volumes in az-one."""
    with world.engine.connection():
        world.engine.execute(
            "INSERT INTO az_resources (resource_id, az, raw_capacity, subcapacities)"
            " SELECT id, 'az-one', %s, '[]' FROM resources WHERE name = 'capacity'",
            [capacity],
        )
    return world


def wish(source: int, target: int, resource: str = "capacity", service: str = "volume") -> dict[str, Any]:
    """The body of a request to convert."""
    part = {"target_service": service, "target_resource": resource, "source_amount": source, "target_amount": target}
    return {"commitment": part}


def post(
    world: World, what: str, document: dict[str, Any] | None = None, project: str = "berlin", **options: Any
) -> Any:
    """A POST below a project's commitments."""
    return world.request("POST", f"{PATHS[project]}/commitments/{what}", json=document, **options)


def delete(world: World, id_: Any, token: str = "cloud-admin", project: str = "berlin") -> Any:
    """The answer to a DELETE."""
    return world.request("DELETE", f"{PATHS[project]}/commitments/{id_}", token)


def offer(world: World, id_: int, amount: int, project: str = "berlin", status: str = "unlisted") -> Any:
    """Marks for transfer."""
    document = {"commitment": {"amount": amount, "transfer_status": status}}
    return post(world, f"{id_}/start-transfer", document, project)


def take(world: World, id_: int, token: str, project: str = "dresden") -> Any:
    """Transfers into the project."""
    path = f"{PATHS[project]}/transfer-commitment/{id_}"
    return world.request("POST", path, headers={"Transfer-Token": token})


def listed(world: World, project: str = "berlin", query: str = "") -> list[dict[str, Any]]:
    """The project's list, without what only the list says."""
    return [
        {name: value for name, value in each.items() if name not in ("renewable_from", "deletable_until")}
        for each in listed_with_deadlines(world, project, query)
    ]


def listed_with_deadlines(world: World, project: str = "berlin", query: str = "") -> list[dict[str, Any]]:
    """The project's list."""
    found: list[dict[str, Any]] = world.get(f"{PATHS[project]}/commitments{query}")["commitments"]
    return found


def amounts(world: World, project: str = "berlin") -> list[tuple[int, str]]:
    """Amount and status of what is listed."""
    return [(commitment["amount"], commitment["status"]) for commitment in listed(world, project)]


def events(world: World, since: int = 0) -> list[tuple[str, int]]:
    """Event and amount of all changes after a number."""
    found = world.get(f"/v1/commitments?since={since}")["events"]
    return [(event["event"], event["commitment"]["amount"]) for event in found]
