"""Commitments over HTTP: making, listing, following, and what is refused, with the rows that changed."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.api.world import BERLIN, GERMANY, World
from tests.commitments.commitments import BEHAVIORS, CORES, NOW, PATHS, YEAR_2027, amounts, ask, commit, events, listed
from tests.quota.quotas import request_quotas
from tests.support.rows import all_rows, changes

INVALID = "request body is not valid JSON"
RAM = {"resource_name": "ram", "duration": "1 year"}


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    return make(behaviors=BEHAVIORS)


def test_an_immediate_commitment(cloud: World) -> None:
    before = all_rows(cloud.engine)
    made = commit(cloud, amount=10, duration="60 minutes", token="berlin-admin")
    uuid = made.pop("uuid")
    assert re.fullmatch(r"[0-9a-f-]{36}", uuid)
    assert made == {
        "id": made["id"],
        "service_type": "compute",
        "resource_name": "cores",
        "availability_zone": "az-one",
        "amount": 10,
        "duration": "1 hour",
        "status": "confirmed",
        "requested_at": NOW,
        "created_at": NOW,
        "creator_uuid": "u6",
        "creator_name": "@",
        "confirmed_at": NOW,
        "expires_at": NOW + 3600,
    }
    after = changes(before, all_rows(cloud.engine))
    assert set(after) == {"project_commitments", "commitment_events", "commitment_event_counter"}
    gone, come = after["project_commitments"]
    assert (gone, len(come)) == ([], 1)
    assert listed(cloud) == [{**made, "uuid": uuid}]
    assert events(cloud) == [("created", 10)]


def test_a_planned_commitment_of_a_measured_resource(cloud: World) -> None:
    made = commit(
        cloud, resource_name="ram", availability_zone="any", duration="2 years", amount=9000, confirm_by=YEAR_2027
    )
    assert (made["status"], made["unit"], made["confirm_by"]) == ("planned", "MiB", YEAR_2027)
    assert "confirmed_at" not in made
    assert made["expires_at"] == YEAR_2027 + (365 + 366) * 86400  # 2028 is a leap year
    assert amounts(cloud) == [(9000, "planned")]


@pytest.mark.parametrize(
    ("fields", "status", "text"),
    [
        ({"service_type": "nothing"}, 422, "no such service"),
        ({"resource_name": "nothing"}, 422, "no such resource"),
        ({"resource_name": "gpus"}, 422, "commitments are not enabled for this resource"),
        ({"availability_zone": "mars"}, 422, 'no such availability zone, acceptable values: ["az-one","az-two"]'),
        ({"availability_zone": "any"}, 422, 'no such availability zone, acceptable values: ["az-one","az-two"]'),
        ({"availability_zone": ""}, 422, 'availability_zone is needed, acceptable values: ["az-one","az-two"]'),
        ({**RAM, "availability_zone": ""}, 422, 'availability_zone is needed, acceptable values: ["any"]'),
        (RAM, 422, 'resource does not accept AZ-aware commitments, so the AZ must be set to "any"'),
        (
            {"duration": "3 years"},
            422,
            'unacceptable commitment duration for this resource, acceptable values: ["1 hour","1 year"]',
        ),
        ({"amount": 0}, 422, "amount of committed resource must be greater than zero"),
        ({"amount": -42}, 400, f"{INVALID}: commitment.amount: Input should be greater than or equal"),
        ({"amount": 2**63 - 1}, 422, "amount is too large: the maximum is 9223372036854775806"),
        ({"confirm_by": NOW - 1}, 422, "confirm_by must not be set in the past\n"),
        ({"confirm_by": 10**17}, 422, "confirm_by is too far in the future: at most 2"),
        ({"amount": 70}, 409, "not enough capacity available for immediate confirmation"),
        ({"duration": "a while"}, 400, "duration: 'a while' is not a duration (expected for example"),
        ({"duration": "1 yaer"}, 400, "duration: '1 yaer' is not a duration (did you mean \"1 year\"?)\n"),
        ({"amount": "10"}, 400, f"{INVALID}: commitment.amount: Input should be a valid integer"),
        ({"amount": 1.5}, 400, f"{INVALID}: commitment.amount: Input should be a valid integer"),
        ({"confirm_by": "soon"}, 400, f"{INVALID}: commitment.confirm_by"),
    ],
)
def test_what_is_refused(cloud: World, fields: dict[str, Any], status: int, text: str) -> None:
    before = all_rows(cloud.engine)
    result = ask(cloud, "berlin", "new", **{"amount": 1, **fields})
    assert (result.status_code, result.text[: len(text)]) == (status, text)
    assert changes(before, all_rows(cloud.engine)) == {}


def test_the_present_second_is_not_past(cloud: World) -> None:
    """Clients know whole seconds only. It is confirmed before what is made afterwards."""
    cloud.clock.advance(0.9)
    made = commit(cloud, confirm_by=NOW)
    assert (made["status"], made["confirm_by"], made["expires_at"]) == ("planned", NOW, NOW + 3600)
    assert amounts(cloud) == [(10, "pending")]
    commit(cloud, amount=1)
    assert amounts(cloud) == [(10, "confirmed"), (1, "confirmed")]


def test_a_missing_availability_zone(cloud: World) -> None:
    """The refusal says that one is needed, and which there are."""
    body = {"commitment": {key: value for key, value in CORES.items() if key != "availability_zone"}}
    for what in ("new", "can-confirm", "plan"):
        result = cloud.request("POST", f"{PATHS['berlin']}/commitments/{what}", json=body)
        assert (result.status_code, result.text) == (
            422,
            'availability_zone is needed, acceptable values: ["az-one","az-two"]\n',
        )


def test_broken_bodies(cloud: World) -> None:
    for body in (b"{", b"[]", b"null", b'{"commitment": null}', b'{"commitment": {"amount": 1}}'):
        result = cloud.request("POST", f"{PATHS['berlin']}/commitments/new", body=body)
        assert result.status_code == 400
        assert result.text.startswith(INVALID)


def test_a_project_that_was_never_scraped(cloud: World) -> None:
    for what in ("new", "can-confirm"):
        result = ask(cloud, "paris", what)
        assert (result.status_code, result.text[:44]) == (423, "no project report for resource compute/cores")
    with cloud.engine.connection():
        cloud.engine.execute(
            "UPDATE project_services SET scrape_error = 'down', failing_since = 0 WHERE project_id = 3"
        )
    for what in ("new", "can-confirm"):
        assert ask(cloud, "paris", what).text == (
            "no project report for resource compute/cores: the backend of service compute has been failing since"
            " 1970-01-01T00:00:00Z (please retry after a scrape has succeeded)\n"
        )


@pytest.mark.sql
def test_lists(cloud: World) -> None:
    commit(cloud, amount=1)
    commit(cloud, amount=2, resource_name="ram", availability_zone="any", duration="1 year")
    commit(cloud, "dresden", amount=3)
    assert amounts(cloud) == [(1, "confirmed"), (2, "confirmed")]
    assert [commitment["amount"] for commitment in listed(cloud, query="?resource=ram")] == [2]
    assert [commitment["amount"] for commitment in listed(cloud, query="?service=compute")] == [1, 2]
    assert listed(cloud, query="?service=volume") == []
    cloud.clock.advance(3600)  # nothing but time has passed: no job has run
    assert amounts(cloud) == [(2, "confirmed")]
    old = listed(cloud, query="?history")
    assert [(each["amount"], each["status"]) for each in old] == [(1, "expired"), (2, "confirmed")]


@pytest.mark.sql
def test_idempotency_key(cloud: World) -> None:
    headers = {"Idempotency-Key": "order-17"}
    first = ask(cloud, "berlin", "new", headers=headers)
    before = all_rows(cloud.engine)
    again = ask(cloud, "berlin", "new", headers=headers, duration="60 minutes")
    assert (first.status_code, again.status_code, again.json) == (201, 201, first.json)
    other = ask(cloud, "berlin", "new", headers=headers, amount=11)
    assert (other.status_code, other.text[:29]) == (422, "this Idempotency-Key was alre")
    assert changes(before, all_rows(cloud.engine)) == {}
    assert ask(cloud, "dresden", "new", headers=headers).json["commitment"]["id"] != first.json["commitment"]["id"]
    refused = ask(cloud, "berlin", "new", headers={"Idempotency-Key": "k2"}, amount=1000)
    assert refused.status_code == 409
    commit(cloud, headers={"Idempotency-Key": "k2"}, amount=1)  # a refusal uses no key up
    assert ask(cloud, "berlin", "new", headers={"Idempotency-Key": "x" * 256}).status_code == 400
    assert ask(cloud, "berlin", "new", headers={"Idempotency-Key": "schl\u00fcssel"}).status_code == 400


@pytest.mark.sql
def test_events_are_seen_once(cloud: World) -> None:
    for amount in (1, 2, 3):
        commit(cloud, amount=amount)
    seen, since = [], 0
    while found := cloud.get(f"/v1/commitments?since={since}&limit=2")["events"]:
        seen += [(event["number"], event["commitment"]["amount"]) for event in found]
        since = found[-1]["number"]
    assert seen == [(1, 1), (2, 2), (3, 3)]
    last = cloud.get(f"/v1/commitments?since={since}")
    assert last == {"events": [], "next": since}
    event = cloud.get("/v1/commitments?limit=1")["events"][0]
    assert (event["event"], event["at"]) == ("created", NOW)
    assert (event["commitment"]["project_id"], event["commitment"]["domain_id"]) == (BERLIN, GERMANY)
    for query in ("since=x", "since=-1", "limit=0", "limit=10001", "since="):
        assert cloud.request("GET", "/v1/commitments", query_string=query).status_code == 400


@pytest.mark.sql
def test_quota_is_not_lowered_below_what_was_guaranteed(cloud: World) -> None:
    commit(cloud, amount=8)
    commit(cloud, amount=4, availability_zone="az-two")
    commit(cloud, amount=100, confirm_by=YEAR_2027)
    result = request_quotas(cloud, PATHS["berlin"], {"cores": 11})
    assert (result.status_code, result.text) == (
        409,
        "cannot change compute/cores quota: quota may not be lower than confirmed commitments, which guarantee that"
        " their amount can be used (minimum acceptable project quota is 12)\n",
    )
    assert request_quotas(cloud, PATHS["berlin"], {"cores": 12}).status_code == 202
