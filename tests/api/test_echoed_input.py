"""No refusal repeats much of a large request, on any route of the API and in any form of mistake."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from limes.app.routes import ROUTES as TABLE
from limes.web.operation import operations_of
from tests.api.test_access import PROJECT, ROUTES
from tests.api.world import BERLIN, GERMANY, World

LONG = "x" * 100_000
MANY_WORDS = "x " * 50_000
BOUND = 8_000
"""Bytes of an answer."""


def _quota(**changes: Any) -> Any:
    return {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": 1} | changes]}]}


def _bodies(text: str) -> list[Any]:
    """Documents of all routes, with the text in the place of a name, of a key, and of a value of another type."""
    commitment = {"service_type": "compute", "resource_name": "cores", "availability_zone": "az-one", "amount": 1}
    commitment["duration"] = "1 year"
    return [
        {text: 1},
        [text],
        text,
        *(
            {key: value}
            for key in ("project", "domain")
            for value in (
                text,
                {"services": text},
                {"services": [{"type": text, "resources": [{"name": "cores", "quota": 1}]}]},
                {"services": [{"type": text, "resources": [{"name": "cores", "max_quota": 1}], "until": text}]},
                _quota(name=text),
                _quota(unit=text),
                _quota(quota=text),
                _quota(max_quota=text),
                {"quota_set": text},
            )
        ),
        *({"commitment": commitment | {key: text}} for key in (*commitment, "confirm_by", "notify_on_confirm")),
        {"commitment_ids": [text]},
        {"commitment": {"amount": 1, "transfer_status": text}},
        {"commitment": {"target_service": text, "target_resource": text, "source_amount": 1, "target_amount": 1}},
        {"duration": text},
        {"auto_renew": text},
        {"quota_request": {"justification": "j", **_quota(name=text)}},
        {"quota_request": {"justification": "j", "quota_set": text}},
        {"quota_request": {"until": text, **_quota()}},
        {"justification": "j", **_quota(name=text)},
        {"reason": [text], "comment": [text]},
        {"unsubscribed": [text], "kinds": text},
    ]


@pytest.mark.parametrize("text", [LONG, MANY_WORDS], ids=["one word", "many words"])
def test_bodies(world: World, text: str) -> None:
    """Each body is sent to each route that takes one."""
    routes = [(method, path) for method, path, *_ in ROUTES if method != "GET"]
    bodies = [json.dumps(body) for body in _bodies(text)]
    statuses = set()
    for method, path in routes:
        for body in bodies:
            answer = world.request(method, path, body=body.encode())
            statuses.add(answer.status_code)
            assert len(answer.content) < BOUND, (method, path, answer.status_code, body[:200], answer.text[:300])
    assert {400, 422} <= statuses


def test_a_name_of_a_megabyte_and_what_is_said_of_it(world: World) -> None:
    body = {"project": {"services": [{"type": "x" * 1_000_000, "resources": [{"name": "cores", "quota": 1}]}]}}
    answer = world.request("PUT", PROJECT, json=body)
    assert answer.status_code == 422
    assert answer.text == f"cannot change {'x' * 300}... quota: no such service\n"


def test_thousands_of_mistakes(world: World) -> None:
    """The first and the last ones are named."""
    resources = [{"name": f"r{number:05}", "quota": 1} for number in range(10_000)]
    body = {"project": {"services": [{"type": "compute", "resources": resources}]}}
    answer = world.request("PUT", PROJECT, json=body)
    assert answer.status_code == 422
    assert answer.text.startswith("cannot change compute/r00000 quota: no such resource\n")
    assert answer.text.endswith("cannot change compute/r09999 quota: no such resource\n")
    assert len(answer.text) < 65_000


def test_queries(world: World) -> None:
    """Each parameter of each route, and one that no route has; and ids of that length in the path."""
    places = {"domain_id": GERMANY, "project_id": BERLIN}
    refused = 0
    for method, path, operation in operations_of(TABLE):
        if method != "GET":
            continue
        queries = [f"{one.name}={TEXT}" for one in operation.parameters if one.place == "query"]
        addresses = [(_filled(path, places), query) for query in [*queries, f"{TEXT}=1"]]
        addresses += [(_filled(path, places | {key: TEXT}), "") for key in _VARIABLE.findall(path)]
        for address, query in addresses:
            answer = world.request("GET", address, query_string=query)
            refused += answer.status_code >= 400
            assert answer.status_code < 400 or len(answer.content) < 2000, (path, query[:40], answer.status_code)
    assert refused > 100


TEXT = "x" * 7000
_VARIABLE = re.compile(r"{(\w+)[^}]*}")


def _filled(path: str, places: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: places.get(found[1], "1"), path)
