"""`service`, `area` and `resource` select on every GET that has something of services and resources to show."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from limes.api import parameters
from limes.app.routes import ROUTES
from limes.commitments.rules import CommitmentRules
from limes.commitments.settle import settle_commitments
from tests.api.world import World
from tests.commitments.commitments import BEHAVIORS, NOW, commit

WITHOUT = {
    *(
        "/",
        "/v1/",
        "/v1/openapi.json",
        "/v1/identity",
        "/v1/rights",
        "/v1/mail-settings",
        "/v1/inbox",
        "/v1/commitments/by-token",
    ),
    "/v1/notifications/unsubscribe",
    *(f"/v1/domains/{{domain_id}}/projects/{{project_id}}/{what}" for what in ("labels", "my-threshold", "webhook")),
    *("/v1/admin/scrape-status", "/v1/domains/{domain_id}/scrape-status"),
    *(
        "/v1/domains/{domain_id}/deciders",
        "/v1/domains/{domain_id}/projects/{project_id}/deciders",
        "/v1/domains/{domain_id}/quota-requests/{id}/deciders",
        "/v1/domains/{domain_id}/projects/{project_id}/quota-requests/{id}/deciders",
        "/v1/domains/{domain_id}/quota-requests/{id}",
        "/v1/domains/{domain_id}/projects/{project_id}/quota-requests/{id}",
    ),
}
"""What is one thing, whatever is selected."""


def test_every_get_takes_them() -> None:
    selection = {parameters.SERVICE, parameters.AREA, parameters.RESOURCE}
    gets = {path: set(methods["GET"].parameters) for path, methods in ROUTES.items() if "GET" in methods}
    assert {path for path, taken in gets.items() if not selection <= taken} == WITHOUT


SELECTIONS = {
    "": {"compute", "volume"},
    "service=volume": {"volume"},
    "area=storage": {"volume"},
    "resource=capacity": {"volume"},
    "service=compute&service=volume&resource=cores": {"compute"},
    "service=volume&area=compute": set(),
    "service=": set(),
    "resource=nothing": set(),
}


@pytest.mark.sql
@pytest.mark.parametrize("query", SELECTIONS)
def test_scrape_errors(world: World, query: str) -> None:
    fail = "UPDATE project_services SET scrape_error = 'down', checked_at = 1234"
    world.run(fail)
    found = world.get(f"/v1/admin/scrape-errors?{query}")["scrape_errors"]
    assert [(error["service_type"], error["affected_projects"]) for error in found] == [
        (service, 3) for service in sorted(SELECTIONS[query])
    ]


@pytest.mark.sql
def test_capacity_is_as_old_as_the_capacitors_of_what_is_selected(world: World) -> None:
    world.run("INSERT INTO capacitors (name, scraped_at, next_scrape_at, scrape_error) VALUES ('disks', 500, 0, '')")
    for capacitor, resource in (("inventory", "cores"), ("inventory", "ram"), ("disks", "capacity")):
        world.run(
            "UPDATE resources SET capacitor_id = (SELECT id FROM capacitors WHERE name = %s) WHERE name = %s",
            [capacitor, resource],
        )

    def range_of(query: str) -> tuple[Any, Any]:
        cluster = world.get(f"/v1/clusters/current?{query}")["cluster"]
        return cluster.get("min_scraped_at"), cluster.get("max_scraped_at")

    assert range_of("") == (500, 900)
    assert range_of("service=compute") == (900, 900)
    assert range_of("area=storage") == (500, 500)
    assert range_of("resource=capacity&resource=cores") == (500, 900)
    assert range_of("resource=gpus") == (None, None), "nobody reports its capacity"
    assert range_of("service=nothing") == (None, None)


@pytest.mark.sql
def test_changes_of_commitments(make: Callable[..., World]) -> None:
    world = make(behaviors=BEHAVIORS)
    for _ in range(3):
        commit(world)
        commit(world, resource_name="ram", availability_zone="any", duration="1 year")

    def changes(query: str) -> tuple[list[tuple[Any, Any]], Any]:
        found = world.get(f"/v1/commitments?{query}")
        return [(event["number"], event["commitment"]["resource_name"]) for event in found["events"]], found["next"]

    assert changes("resource=ram") == ([(2, "ram"), (4, "ram"), (6, "ram")], 6)
    assert changes("resource=cores") == ([(1, "cores"), (3, "cores"), (5, "cores")], 6), "the last one was looked at"
    assert changes("resource=cores&limit=2") == ([(1, "cores"), (3, "cores")], 3)
    assert changes("service=compute&resource=ram&since=4") == ([(6, "ram")], 6)
    assert changes("area=storage") == ([], 6)
    assert changes("area=storage&since=6") == ([], 6)


@pytest.mark.sql
def test_changes_of_commitments_by_what_they_are(make: Callable[..., World]) -> None:
    world = make(behaviors=BEHAVIORS)
    berlin = commit(world)
    world.clock.advance(100)
    commit(world, "dresden", availability_zone="az-two", duration="1 year")
    world.clock.advance(100)
    commit(world, confirm_by=NOW + 100_000)
    world.clock.advance(7200)  # the first one has ended
    settle_commitments(world.limes)

    def changes(query: str) -> list[tuple[Any, ...]]:
        found = world.get(f"/v1/commitments?{query}")["events"]
        return [(event["number"], event["event"], event["commitment"]["status"]) for event in found]

    first, second, third, ended = (
        (1, "created", "confirmed"),
        (2, "created", "confirmed"),
        (3, "created", "planned"),
        (4, "expired", "expired"),
    )
    assert changes("") == [first, second, third, ended]
    assert changes("status=expired") == [ended]
    assert changes("status=expired&status=planned") == [third, ended]
    assert changes("project_id=uuid-for-dresden") == [second]
    assert changes("domain_id=uuid-for-germany") == [first, second, third, ended]
    assert changes("domain_id=uuid-for-france") == []
    assert changes("availability_zone=az-two&resource=cores") == [second]
    assert changes("resource=ram&project_id=uuid-for-dresden") == []
    assert changes(f"changed_since={NOW + 100}") == [second, third, ended]
    assert changes(f"changed_since={NOW + 100}&changed_until={NOW + 200}") == [second]
    until = datetime.fromtimestamp(NOW + 200, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert changes(f"changed_since={NOW + 100}&changed_until={until}") == [second]
    assert changes(f"changed_until={NOW + 100}&status=confirmed") == [first]
    assert changes("since=1&limit=1&status=confirmed") == [second]
    assert berlin["id"] == 1


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("status=maybe", "expected one of planned, pending, confirmed, superseded, expired"),
        ("changed_since=5&changed_until=4", "it is after changed_until"),
    ],
)
def test_a_filter_that_makes_no_sense(make: Callable[..., World], query: str, text: str) -> None:
    result = make(behaviors=BEHAVIORS).request("GET", "/v1/commitments", query_string=query)
    assert (result.status_code, text in result.text) == (400, True)


def test_a_selection_is_looked_for_until_there_is_something_to_tell(
    make: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer without changes is the end for who follows them."""
    monkeypatch.setattr("limes.commitments.reading._EVENTS_AT_ONCE", 2)
    world = make(behaviors=BEHAVIORS)
    for _ in range(5):
        commit(world)
    commit(world, resource_name="ram", availability_zone="any", duration="1 year")
    found = world.get("/v1/commitments?resource=ram")
    assert ([event["number"] for event in found["events"]], found["next"]) == ([6], 6)


def test_conversions(make: Callable[..., World]) -> None:
    worth = {("compute", "cores"): 1, ("compute", "ram"): 4, ("volume", "capacity"): 2}
    rules = CommitmentRules(conversions=(worth,))
    world = make(behaviors=BEHAVIORS, commitment_rules=rules)

    def targets(query: str) -> set[Any]:
        found = world.get(f"/v1/commitment-conversion/compute/cores?{query}")["conversions"]
        return {conversion["target_resource"] for conversion in found}

    assert targets("") == {"ram", "capacity"}
    assert targets("service=volume") == {"capacity"}
    assert targets("resource=ram") == {"ram"}
