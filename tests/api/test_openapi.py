"""The OpenAPI document: complete, valid, and what the real server does when schemathesis asks it all sorts of things."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
import schemathesis.specs.openapi.checks as openapi_checks
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.schemas import APIOperation

from limes.app.routes import ROUTES
from limes.db.migrate import limes_migrations
from limes.web.operation import operations_of, public_paths
from tests.api.contract import DOCUMENT, check_answer
from tests.api.server import serve
from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS, World
from tests.commitments.commitments import CORES, NOW, PATHS
from tests.support.databases import MigratedUrlFactory

OPERATIONS = {(method, path) for method, path, _ in operations_of(ROUTES)}

EXAMPLES = 12
"""Requests of each operation that fit the document, and as many that do not."""

ROUNDS = 12
"""How often an operation that has not succeeded yet is tried again: which requests hit is a matter of luck. Without any,
`test_every_route` shows that each can succeed."""

COMMITMENTS = 12
HARD_TO_HIT = {
    ("GET", "/v1/notifications/unsubscribe"),
    ("POST", "/v1/notifications/unsubscribe"),
    ("GET", "/v1/commitments/by-token"),
    ("POST", "/v1/domains/{domain_id}/projects/{project_id}/transfer-commitment/{id}"),
    ("POST", "/v1/domains/{domain_id}/projects/{project_id}/commitments/{id}/convert"),
    ("GET", "/v1/commitment-conversion/{service_type}/{resource_name}"),
}
"""These need the right token, or resources that can be converted into each other; other tests have them."""
HARD_TO_HIT |= {
    route
    for route in OPERATIONS
    if "/quota-requests/{id}" in route[1] or (route[0] == "POST" and "/quota-requests" in route[1])
}
"""And these an open request, or a quota above the present one, which a PUT at random may have raised; `test_quota_requests`
has them."""
HARD_TO_HIT |= {route for route in OPERATIONS if route[1].endswith(("/usage-reports", "/webhook"))}
"""And these a time that begins a month, and an account that a collector has begun, which `test_usage_reports` has; or
hosts that operators have allowed, which `test_project_webhooks` has."""

KNOWN = {
    # in paths
    "domain_id": [GERMANY] * 9 + [FRANCE],
    "project_id": [BERLIN] * 8 + [DRESDEN, PARIS],
    "id": [1],
    # in bodies
    "type": ["compute"],
    "name": ["cores", "ram"],
    "quota": [20, 30, 2048],
    "unit": [None],
    "service_type": ["compute"],
    "resource_name": ["cores", "ram"],
    "availability_zone": ["az-one", "any"],
    "amount": [1, 2],
    "duration": ["1 hour", "1 year"],
    "confirm_by": [None, NOW + 60],
    "transfer_status": ["", "public"],
    "commitment": [{**CORES, "amount": 1, "transfer_status": "public"}],
    "commitment_ids": [[1]],
}


@pytest.fixture
def server(database_url_with: MigratedUrlFactory, tmp_path: Path) -> Iterator[str]:
    """The address of the small cloud, behind a real gunicorn."""
    port, process = serve(database_url_with(limes_migrations), tmp_path)
    with process:
        yield f"http://127.0.0.1:{port}"
    assert "Traceback" not in process.log_text()


def buy(server: str) -> list[int]:
    """The ids of new commitments, confirmed and planned in turn: what is asked at random soon uses up the old ones."""
    ids = []
    for number in range(COMMITMENTS):
        later = {"confirm_by": NOW + 60} if number % 2 else {}
        made = requests.post(
            f"{server}{PATHS['berlin']}/commitments/new",
            json={"commitment": {**CORES, "amount": 1, **later}},
            headers={"X-Auth-Token": "cloud-admin"},
            timeout=200,
        )
        assert made.status_code == 201, made.text
        ids.append(made.json()["commitment"]["id"])
    return ids


def test_every_route_is_described_and_nothing_else() -> None:
    described = {
        (method.upper(), path) for path, item in DOCUMENT["paths"].items() for method in item if method != "parameters"
    }
    assert described == OPERATIONS


def test_the_document_is_valid() -> None:
    schemathesis.openapi.from_dict(DOCUMENT).validate()
    operations = [
        operation for item in DOCUMENT["paths"].values() for key, operation in item.items() if key != "parameters"
    ]
    assert len({operation["operationId"] for operation in operations}) == len(operations) == len(OPERATIONS)
    assert all(operation["summary"] for operation in operations)


def test_it_is_served_without_a_token(world: World) -> None:
    result = world.request("GET", "/v1/openapi.json", None)
    assert (result.status_code, result.json) == (200, DOCUMENT)
    assert {
        path for path, item in DOCUMENT["paths"].items() if item.get("get", {}).get("security") == []
    } == public_paths(ROUTES)


@pytest.mark.parametrize("field", ["surprise", "id"])
def test_an_answer_that_is_not_as_described_is_found(world: World, field: str) -> None:
    result = world.request("GET", "/v1/domains")
    document = result.json
    domain = document["domains"][0]
    domain[field] = ["x"]

    class Answer:
        status_code, headers, content, text, json = 200, result.headers, result.content, result.text, document

    with pytest.raises(AssertionError, match="is not as the OpenAPI document says"):
        check_answer("GET", "/v1/domains", Answer)
    Answer.status_code = 418
    with pytest.raises(AssertionError, match="answers 418"):
        check_answer("GET", "/v1/domains", Answer)


def aim(case: Case, known: dict[str, list[Any]], dice: random.Random) -> None:
    """Mostly at what there is: with random ids alone, nothing but 404 would be seen."""
    case.path_parameters = aimed(case.path_parameters, known, dice)
    case.body = aimed(case.body, known, dice)
    token = dice.choice(["cloud-admin"] * 8 + ["berlin-member", "expired"])
    case.headers = {**(case.headers or {}), "X-Auth-Token": token}


def aimed(value: Any, known: dict[str, list[Any]], dice: random.Random) -> Any:
    """The value, with most of what has a known name replaced."""
    if isinstance(value, list):
        return [aimed(item, known, dice) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: dice.choice(known[key]) if key in known and dice.random() < 0.9 else aimed(item, known, dice)
        for key, item in value.items()
    }


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("databases", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True)
def test_the_server_keeps_to_it(server: str) -> None:
    operations = [found.ok() for found in schemathesis.openapi.from_dict(DOCUMENT).get_all_operations()]
    dice = random.Random(4711)
    known = dict(KNOWN)
    succeeded: set[tuple[str, str]] = set()

    def ask(case: Case) -> None:
        aim(case, known, dice)
        response = case.call(base_url=server, timeout=120)
        if response.status_code < 400:
            succeeded.add((case.method.upper(), case.path))
        checks = [
            schemathesis.checks.not_a_server_error,
            openapi_checks.status_code_conformance,
            openapi_checks.response_headers_conformance,
            openapi_checks.response_schema_conformance,
        ]
        if response.content:
            checks.append(openapi_checks.content_type_conformance)
        case.validate_response(response, checks=checks)

    for number in range(ROUNDS):
        ids = buy(server)
        known |= {"id": ids, "commitment_ids": [[ids[0], ids[2]]]}
        for operation in operations:
            for mode in GenerationMode if number == 0 else [GenerationMode.POSITIVE]:
                ask_often(ask, operation, mode)
        missed = OPERATIONS - succeeded - HARD_TO_HIT
        operations = [operation for operation in operations if (operation.method.upper(), operation.path) in missed]
    assert missed == set()


def ask_often(ask: Callable[[Case], None], operation: APIOperation, mode: GenerationMode) -> None:
    """EXAMPLES requests of the operation, the same ones in each run but for what `aim` does to them."""
    settings(
        max_examples=EXAMPLES, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )(given(case=operation.as_strategy(generation_mode=mode))(ask))()
