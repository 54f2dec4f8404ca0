"""At every microversion from 1.0 to 1.39, ours answers one long story as upstream answers it.

Compared are status, error code, title and text, the documents, and the headers that clients read.
"""

import json
from typing import Any

import pytest
import requests

from limes.placement import operation as microversion
from tests.placement import error_texts
from tests.placement.differential.steps import all_steps
from tests.placement.differential.story import Step, Story
from tests.placement.world import World
from tests.support.upstream_placement import UpstreamPlacement

TURNS = (0, 8, 12, 19, 28, 39)
"""Versions that change what many requests and answers look like: project and user, documents instead of lists,
generations of aggregates and of consumers, and the newest."""
VERSIONS = [
    pytest.param(
        "postgresql", version, marks=[pytest.mark.postgresql, *([] if version in TURNS else [pytest.mark.long])]
    )
    if version % 2 or version in TURNS
    else pytest.param("sqlite", version, marks=pytest.mark.long)
    for version in range(microversion.MIN, microversion.MAX + 1)
]
"""Each version once, on one database and the other in turn; those of `make test` on PostgreSQL."""
HEADERS = ("allow", "cache-control", "openstack-api-version")


def comparable(status: int, headers: Any, text: str, base: str) -> dict[str, Any]:
    """What both servers have to agree on."""
    document = json.loads(text) if text and headers.get("content-type", "").startswith("application/json") else None
    said = None
    if status >= 400 and document:
        error = document["errors"][0]
        said = error_texts.text_of(error)
        document = {key: error.get(key) for key in ("status", "title", "code", "max_version", "min_version")}
    if isinstance(document, dict) and "versions" in document:
        document["versions"][0].pop("extensions", None)
    location = headers.get("location")
    found = {name: headers.get(name) for name in HEADERS}
    found["allow"] = found["allow"] and ", ".join(sorted(found["allow"].split(", ")))
    return found | {
        "status": status,
        "location": location and location.removeprefix(base),
        "last-modified": "last-modified" in headers,
        "type": (headers.get("content-type") or "").split(";")[0] if text else None,
        "document": in_order(document),
        "text": said,
    }


def differences_of(theirs: dict[str, Any], ours: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What upstream answers and what ours answers, where they differ."""
    different = {key: (theirs[key], ours[key]) for key in theirs if theirs[key] != ours[key]}
    if "text" in different and ("status" in different or error_texts.is_deliberate(*different["text"])):
        del different["text"]
    return different


def in_order(document: Any) -> Any:
    """Lists whose order has no meaning, sorted."""
    if isinstance(document, dict):
        return {key: in_order(value) for key, value in document.items()}
    if isinstance(document, list):
        return sorted((in_order(one) for one in document), key=repr)
    return document


def is_deliberate(method: str, different: dict[str, tuple[Any, Any]]) -> bool:
    """Where ours differs on purpose: `allow` on each 405, `last-modified` with each document, and for DELETE of an
    inventory in use the error code that the API reference has for it."""
    return all(
        (key == "allow" and theirs is None)
        or (key == "last-modified" and ours)
        or (method == "DELETE" and ours and ours.get("code") == "placement.inventory.inuse")
        for key, (theirs, ours) in different.items()
    )


def headers_of(step: Step, version: int) -> dict[str, str]:
    headers = {"x-auth-token": "admin", "openstack-api-version": f"placement {microversion.text(version)}"}
    headers["x-roles"] = "admin,service"
    if step.body is not None:
        headers["content-type"] = "application/json"
    return headers


@pytest.mark.sql
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("databases", "version"), VERSIONS, indirect=["databases"])
def test_the_same_story(world: World, upstream_placement: UpstreamPlacement, version: int) -> None:
    story = Story(version, f"{world.engine.dialect}")
    differences = []
    with requests.Session() as session:
        session.trust_env = False
        for step in all_steps(story):
            headers = headers_of(step, version)
            data = None if step.body is None else json.dumps(step.body)
            theirs = session.request(
                step.method, upstream_placement.url + step.path, headers=headers, data=data, timeout=30
            )
            ours = world.call(
                step.method, step.path, step.body, version=microversion.text(version), x_roles="admin,service"
            )
            expected = comparable(theirs.status_code, theirs.headers, theirs.text, upstream_placement.url)
            found = comparable(ours.status_code, ours.headers, ours.text, "http://placement.example")
            different = differences_of(expected, found)
            if not is_deliberate(step.method, different):
                differences.append(
                    f"{step}\n  (theirs, ours): {different}\n  {theirs.text[-200:]}\n  {ours.text[-200:]}"
                )
    assert not differences, "\n".join(differences)
