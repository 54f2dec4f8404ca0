"""The tables of the three APIs: each operation has a rule that exists, and what follows from the table is right."""

from typing import Any, Never

import falcon
import falcon.testing
import pytest

from limes.app.liquid.app import ROUTES as LIQUID_ROUTES
from limes.app.liquid.app import RULES as LIQUID_RULES
from limes.app.routes import ROUTES, RULES
from limes.auth.context import Identity
from limes.auth.policy import Rule
from limes.kernel.errors import Forbidden
from limes.placement.routes import ROUTES as PLACEMENT_ROUTES
from limes.placement.routes import rules as placement_rules
from limes.web.call import Answer, Call
from limes.web.errors import PlainErrors
from limes.web.operation import JsonApi, Operation, Router, add_routes, document_rules, operations_of, public_paths

FOR_EVERYBODY = {"/", "/v1/", "/v1/openapi.json", "/v1/identity", "/v1/rights", "/v1/resources"}
SIGNED = {"/v1/notifications/unsubscribe"}
"""Where a signature in the address says who may do what."""
TABLES = {
    "limes": (ROUTES, RULES, FOR_EVERYBODY | SIGNED),
    "placement": (PLACEMENT_ROUTES, placement_rules(True), {"/"}),
    "liquid": (LIQUID_ROUTES, LIQUID_RULES, set()),
}


@pytest.mark.parametrize(("table", "rules", "without_rule"), TABLES.values(), ids=TABLES)
def test_each_operation_has_a_rule_that_exists(table: Any, rules: Any, without_rule: Any) -> None:
    known = {rule.name for rule in rules}
    operations = list(operations_of(table))
    named = {name for _, _, operation in operations for name in (operation.rule, *operation.also)}
    assert named - {None} <= known
    assert {path for _, path, operation in operations if operation.rule is None} == without_rule
    assert all(operation.rule is None for _, _, operation in operations if operation.public)
    assert all(operation.handler.__doc__ for _, _, operation in operations)


class HalfOpenCall(Call[str]):
    def authorize(self) -> Never:
        raise Forbidden(f"no {self.rule}")


class HalfOpenApi(JsonApi[Operation, HalfOpenCall]):
    def call(self, req: Any, operation: Any, params: Any) -> HalfOpenCall:
        return HalfOpenCall(req, "deps", operation.rule, params, Identity(user_id="u"))


TABLE = {
    "/open": {"GET": Operation(lambda call: Answer(document={"deps": call.deps}), None, public=True)},
    "/rooms/{name}": {
        "GET": Operation(
            lambda call: Answer(text=call.params["name"]), "room:show", also=("room:list",), authorizes=True
        ),
        "PUT": Operation(lambda call: Answer(204), "room:paint"),
    },
}


@pytest.fixture
def client() -> falcon.testing.TestClient:
    app = falcon.App(router=Router(head=True))
    PlainErrors().install(app)
    add_routes(app, HalfOpenApi(), TABLE)
    return falcon.testing.TestClient(app)


def test_a_handler_is_asked_only_after_the_rule(client: falcon.testing.TestClient) -> None:
    assert client.simulate_get("/open").json == {"deps": "deps"}
    assert client.simulate_get("/rooms/red").text == "red\n"
    refused = client.simulate_put("/rooms/red")
    assert (refused.status_code, refused.text) == (403, "no room:paint\n")


@pytest.mark.filterwarnings("ignore:Unknown REQUEST_METHOD")  # the test client's; clients may send what they like
def test_what_the_table_does_not_have(client: falcon.testing.TestClient) -> None:
    assert client.simulate_get("/rooms").status_code == 404
    for method in ("DELETE", "PATCH", "FROBNICATE"):
        refused = client.simulate_request(method, "/rooms/red")
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD, PUT, OPTIONS")
    assert client.simulate_options("/rooms/red").headers["allow"] == "GET, HEAD, PUT"
    assert client.simulate_head("/rooms/red").status_code == 200


def test_what_follows_from_a_table() -> None:
    assert public_paths(TABLE) == {"/open"}
    rules = [Rule("room:show", "@", ""), Rule("room:list", "@", ""), Rule("helper", "@", "")]
    requests = {rule.name: rule.operations for rule in document_rules(rules, TABLE)}
    shown = (("GET", "/rooms/{name}"),)
    assert requests == {"room:show": shown, "room:list": shown, "helper": ()}
