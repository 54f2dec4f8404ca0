"""Help with tests about quota: the paths of a domain and a project, request bodies, and what a request has changed."""

from typing import Any

from tests.api.world import BERLIN, GERMANY, World
from tests.support.rows import all_rows, changes

DOMAIN = f"/v1/domains/{GERMANY}"
PROJECT = f"{DOMAIN}/projects/{BERLIN}"


def body(level: str, **services: Any) -> dict[str, Any]:
    """`body("project", compute={"cores": 30, "ram": (1, "GiB")})`"""
    return {
        level: {
            "services": [
                {
                    "type": service,
                    "resources": [
                        {"name": name, "quota": value[0], "unit": value[1]}
                        if isinstance(value, tuple)
                        else {"name": name, "quota": value}
                        for name, value in resources.items()
                    ],
                }
                for service, resources in services.items()
            ]
        }
    }


def request_quotas(
    world: World,
    path: str,
    quotas: dict[str, Any],
    token: str = "cloud-admin",
    *,
    service: str = "compute",
    method: str = "PUT",
    **options: Any,
) -> Any:
    """The answer to a request for quotas (as for `body`) of one service at a path of a domain or project."""
    level = "project" if "/projects/" in path else "domain"
    return world.request(method, path, token, json=body(level, **{service: quotas}), **options)


def resources(
    world: World, path: str, query: str = "", headers: dict[str, str] | None = None, token: str = "cloud-admin"
) -> dict[Any, Any]:
    """The resources of all services in a report, by name; of the first object, if the report is a list."""
    result = world.request("GET", path, token, query_string=query, headers=headers or {})
    assert result.status_code == 200, result.text
    shown = next(iter(result.json.values()))
    shown = shown[0] if isinstance(shown, list) else shown
    return {resource["name"]: resource for service in shown["services"] for resource in service["resources"]}


def put(
    world: World, path: str, document: Any, token: str = "cloud-admin"
) -> tuple[Any, dict[str, tuple[list[Any], list[Any]]]]:
    """The answer to a PUT, and the rows that it has changed."""
    before = all_rows(world.engine)
    result = world.request("PUT", path, token, json=document)
    return result, changes(before, all_rows(world.engine))
