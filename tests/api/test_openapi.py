"""The OpenAPI document: complete, valid, and what the real server does when schemathesis asks it all sorts of things."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
import schemathesis.specs.openapi.checks as openapi_checks
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode

from limes.api.openapi.document import responders
from limes.api.openapi.operations import OPERATIONS
from limes.api.routes import PUBLIC_PATHS, routes
from limes.db.migrate import limes_migrations
from tests.api.commitments import CORES, NOW, PATHS
from tests.api.contract import DOCUMENT, check_answer
from tests.api.server import serve
from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS
from tests.support.databases import MigratedUrlFactory

EXAMPLES = 12
"""Requests of each operation that fit the document, and as many that do not."""

COMMITMENTS = 12
HARD_TO_HIT = {
    ("GET", "/v1/commitments/by-token"),
    ("POST", "/v1/domains/{domain_id}/projects/{project_id}/transfer-commitment/{id}"),
    ("POST", "/v1/domains/{domain_id}/projects/{project_id}/commitments/{id}/convert"),
    ("GET", "/v1/commitment-conversion/{service_type}/{resource_name}"),
}
"""These need the right token, or resources that can be converted into each other; other tests have them."""

KNOWN = {
    # in paths
    "domain_id": [GERMANY] * 9 + [FRANCE],
    "project_id": [BERLIN] * 8 + [DRESDEN, PARIS],
    "id": list(range(1, COMMITMENTS + 1)),
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
    "commitment_ids": [[1, 3]],
}


@pytest.fixture
def server(database_url_with: MigratedUrlFactory, tmp_path: Path) -> Iterator[str]:
    """The address of the small cloud, behind a real gunicorn."""
    port, process = serve(database_url_with(limes_migrations), tmp_path)
    with process:
        url = f"http://127.0.0.1:{port}"
        for number in range(COMMITMENTS):
            later = {"confirm_by": NOW + 60} if number % 2 else {}
            body = {"commitment": {**CORES, "amount": 1, **later}}
            made = requests.post(
                f"{url}{PATHS['berlin']}/commitments/new",
                json=body,
                headers={"X-Auth-Token": "cloud-admin"},
                timeout=30,
            )
            assert made.status_code == 201, made.text
        yield url
    assert "Traceback" not in process.log_text()


def test_every_route_is_described_and_nothing_else():
    table = {(method, path) for method, path, _ in responders(routes(None))}  # type: ignore[arg-type]  # table only
    assert table == set(OPERATIONS)


def test_the_document_is_valid():
    schemathesis.openapi.from_dict(DOCUMENT).validate()
    operations = [one for item in DOCUMENT["paths"].values() for key, one in item.items() if key != "parameters"]
    assert len({one["operationId"] for one in operations}) == len(operations) == len(OPERATIONS)
    assert all(one["summary"] for one in operations)


def test_it_is_served_without_a_token(world):
    result = world.request("GET", "/v1/openapi.json", None)
    assert (result.status_code, result.json) == (200, DOCUMENT)
    assert {
        path for path, item in DOCUMENT["paths"].items() if item.get("get", {}).get("security") == []
    } == PUBLIC_PATHS


@pytest.mark.parametrize("field", ["surprise", "id"])
def test_an_answer_that_is_not_as_described_is_found(world, field):
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


def aim(case: Case, dice: random.Random) -> None:
    """Mostly at what there is: with random ids alone, nothing but 404 would be seen."""
    case.path_parameters = aimed(case.path_parameters, dice)
    case.body = aimed(case.body, dice)
    token = dice.choice(["cloud-admin"] * 8 + ["berlin-member", "expired"])
    case.headers = {**(case.headers or {}), "X-Auth-Token": token}


def aimed(value: Any, dice: random.Random) -> Any:
    """The value, with most of what has a known name replaced."""
    if isinstance(value, list):
        return [aimed(one, dice) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: dice.choice(KNOWN[key]) if key in KNOWN and dice.random() < 0.9 else aimed(one, dice)
        for key, one in value.items()
    }


@pytest.mark.timeout(400)
@pytest.mark.parametrize("databases", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True)
def test_the_server_keeps_to_it(server):
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    dice = random.Random(4711)
    seen: set[tuple[str, str, int]] = set()

    def ask(case: Case) -> None:
        aim(case, dice)
        response = case.call(base_url=server, timeout=30)
        seen.add((case.method, case.path, response.status_code))
        checks = [
            schemathesis.checks.not_a_server_error,
            openapi_checks.status_code_conformance,
            openapi_checks.response_headers_conformance,
            openapi_checks.response_schema_conformance,
        ]
        if response.content:
            checks.append(openapi_checks.content_type_conformance)
        case.validate_response(response, checks=checks)

    for found in schema.get_all_operations():
        operation = found.ok()
        for mode in GenerationMode:
            test = given(case=operation.as_strategy(generation_mode=mode))(ask)
            settings(
                max_examples=EXAMPLES,
                derandomize=True,
                database=None,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            )(test)()
    successes = {(method.upper(), path) for method, path, status in seen if status < 400}
    assert set(OPERATIONS) - successes <= HARD_TO_HIT
