"""Audit events of what users do: each is written with the change that it is about, and says who, what and how."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any, Never

import pytest

from tests.api.world import BERLIN, DRESDEN, GERMANY, World
from tests.commitments.commitments import BEHAVIORS, CORES, PATHS, commit, offer, take
from tests.quota.quotas import DOMAIN, PROJECT, request_quotas
from tests.support.rows import all_rows, changes
from tests.support.statements import statements_of


@pytest.fixture
def audited(make: Callable[..., World]) -> World:
    return make(sinks=("log",), behaviors=BEHAVIORS, burst_multiplier=0.2)


def events(world: World) -> list[Any]:
    rows = world.engine.rows("SELECT document FROM audit_outbox ORDER BY number")
    return [json.loads(document) for (document,) in rows]


def payload(event: Any) -> Any:
    (attachment,) = event["target"]["attachments"]
    assert (attachment["name"], attachment["typeURI"]) == ("payload", "mime:application/json")
    return json.loads(attachment["content"])


def put(world: World, level: str, token: str = "cloud-admin", **resources: int) -> Any:
    headers = {"User-Agent": "limesctl/1.2", "X-Openstack-Request-Id": f"req-{BERLIN_ID}"}
    return request_quotas(world, {"domain": DOMAIN, "project": PROJECT}[level], resources, token, headers=headers)


BERLIN_ID = "0b7ff1d2-3c4d-4e5f-8a9b-0c1d2e3f4a5b"


def test_a_project_quota(audited: World) -> None:
    result = put(audited, "project", "germany-admin", cores=25)
    assert result.status_code == 202
    (event,) = events(audited)
    assert event.pop("id")
    assert payload(event) == {"oldQuota": 20, "newQuota": 25}
    del event["target"]["attachments"]
    assert event == {
        "typeURI": "http://schemas.dmtf.org/cloud/audit/1.0/event",
        "eventTime": "2026-01-01T00:00:00.000000+00:00",
        "eventType": "activity",
        "action": "update",
        "outcome": "success",
        "reason": {"reasonType": "HTTP", "reasonCode": "200"},
        "initiator": {
            "typeURI": "service/security/account/user",
            "id": "u3",
            "domain_id": GERMANY,
            "domain_name": "germany",
            "host": {"address": "127.0.0.1", "agent": "limesctl/1.2"},
            "request_id": result.headers["x-openstack-request-id"],
            "global_request_id": f"req-{BERLIN_ID}",
        },
        "target": {
            "typeURI": "service/compute/cores/quota",
            "id": BERLIN,
            "domain_id": GERMANY,
            "domain_name": "germany",
            "project_id": BERLIN,
            "project_name": "berlin",
        },
        "observer": {"typeURI": "service/resources", "name": "limes", "id": "limes"},
        "requestPath": PROJECT,
    }


def test_a_domain_quota(audited: World) -> None:
    assert put(audited, "domain", ram=5000, cores=100).status_code == 202
    (event,) = events(audited)
    assert (event["target"]["typeURI"], event["target"]["id"]) == ("service/compute/ram/quota", GERMANY)
    assert "project_id" not in event["target"]
    assert payload(event) == {"oldQuota": 4096, "newQuota": 5000, "unit": "MiB"}


def test_each_sink_gets_the_same_event(make: Callable[..., World]) -> None:
    world = make(sinks=("log", "rabbitmq"))
    put(world, "project", cores=25)
    rows = world.engine.rows("SELECT sink, stream, event_id, document FROM audit_outbox ORDER BY sink")
    assert [row[:2] for row in rows] == [("log", BERLIN), ("rabbitmq", BERLIN)]
    assert rows[0][2:] == rows[1][2:]
    assert json.loads(rows[0][3])["id"] == rows[0][2]


def test_a_refused_request_is_told_as_a_whole(audited: World) -> None:
    before = all_rows(audited.engine)
    result = put(audited, "project", "berlin-admin", cores=4, ram=1000, gpus=1, unheard_of=3)
    assert result.status_code == 422
    assert set(changes(before, all_rows(audited.engine))) == {"audit_outbox"}
    found = {event["target"]["typeURI"].split("/")[2]: event for event in events(audited)}
    assert {name: payload(event) for name, event in found.items()} == {
        "cores": {"oldQuota": 20, "newQuota": 4, "rejectReason": "quota may not be lower than current usage"},
        "ram": {
            "oldQuota": 1024,
            "newQuota": 1000,
            "unit": "MiB",
            "rejectReason": "cannot commit this because other values in this request are unacceptable",
        },
        "gpus": {"rejectReason": "resource does not track quota"},
    }
    for event in found.values():
        assert (event["outcome"], event["reason"]["reasonCode"]) == ("failure", "422")
        assert event["initiator"]["id"] == "u6"


def test_no_events_where_nothing_happens(audited: World) -> None:
    assert put(audited, "project", cores=20, ram=1024).status_code == 202
    audited.request("POST", f"{PROJECT}/simulate-put", json={"project": {"bursting": {"enabled": True}}})
    audited.get(PROJECT)
    assert put(audited, "project", "france-admin", cores=21).status_code == 403
    assert events(audited) == []


def test_without_sinks_there_is_only_the_history(make: Callable[..., World]) -> None:
    world = make()
    before = all_rows(world.engine)
    assert put(world, "project", cores=21).status_code == 202
    assert put(world, "project", cores=2).status_code == 409
    assert set(changes(before, all_rows(world.engine))) == {"project_resources", "project_services", "quota_history"}


def burst(world: World, project: str, enabled: bool) -> Any:
    path = f"/v1/domains/{GERMANY}/projects/{project}"
    return world.request("PUT", path, json={"project": {"bursting": {"enabled": enabled}}}).status_code


def test_bursting(audited: World) -> None:
    assert [burst(audited, DRESDEN, True), burst(audited, DRESDEN, True), burst(audited, DRESDEN, False)] == [
        202,
        202,
        409,
    ]
    on, refused = events(audited)
    assert {event["target"]["typeURI"] for event in (on, refused)} == {"service/resources/bursting"}
    assert (on["outcome"], payload(on)) == ("success", {"oldStatus": False, "newStatus": True})
    assert (refused["outcome"], refused["reason"]["reasonCode"]) == ("failure", "409")
    assert payload(refused) == {
        "newStatus": False,
        "rejectReason": "cannot disable bursting because 1 resource is currently bursted: compute/cores",
    }


def told(world: World) -> list[tuple[Any, ...]]:
    """Event, action, code, and the status before and after."""
    found = []
    for event in events(world):
        assert event["target"]["typeURI"] == "service/resources/commitment"
        content = payload(event)
        statuses = [content[when]["status"] if content.get(when) else None for when in ("old", "new")]
        found.append((content["event"], event["action"], event["reason"]["reasonCode"], *statuses))
    return found


def test_the_life_of_commitments(audited: World) -> None:
    first = commit(audited, amount=6)
    second = commit(audited, amount=4)
    merged = audited.request(
        "POST", f"{PATHS['berlin']}/commitments/merge", json={"commitment_ids": [first["id"], second["id"]]}
    ).json["commitment"]
    marked = offer(audited, merged["id"], 3).json["commitment"]
    assert take(audited, marked["id"], marked["transfer_token"]).status_code == 202
    assert told(audited) == [
        ("created", "create", "201", None, "confirmed"),
        ("created", "create", "201", None, "confirmed"),
        ("superseded", "update", "202", "confirmed", "superseded"),
        ("superseded", "update", "202", "confirmed", "superseded"),
        ("created", "create", "201", None, "confirmed"),
        ("superseded", "update", "202", "confirmed", "superseded"),
        ("created", "create", "201", None, "confirmed"),
        ("created", "create", "201", None, "confirmed"),
        ("transfer_started", "update", "202", "confirmed", "confirmed"),
        ("transferred", "update", "202", "confirmed", "confirmed"),
    ]
    last = events(audited)[-1]
    assert (last["target"]["id"], last["target"]["project_name"]) == (marked["uuid"], "dresden")
    assert payload(last)["old"]["project_id"] == BERLIN
    assert payload(last)["new"]["project_id"] == DRESDEN


def test_a_transfer_token_is_never_told(audited: World) -> None:
    made = commit(audited)
    marked = offer(audited, made["id"], CORES["amount"]).json["commitment"]
    take(audited, made["id"], marked["transfer_token"])
    text = json.dumps([events(audited), sorted(map(str, all_rows(audited.engine)["quota_history"]))])
    assert marked["transfer_token"] not in text
    assert "transfer_token" not in text


def test_deleting_a_planned_commitment(audited: World) -> None:
    planned = commit(audited, confirm_by=1767225600 + 86400)
    assert audited.request("DELETE", f"{PATHS['berlin']}/commitments/{planned['id']}").status_code == 204
    assert told(audited)[-1] == ("deleted", "delete", "204", "planned", None)


def test_what_time_brings_about_is_not_laid_to_the_users_account(audited: World) -> None:
    commit(audited, amount=4)
    audited.clock.advance(2 * 3600)
    assert audited.request("POST", f"{PATHS['berlin']}/commitments/new", json={"commitment": CORES}).status_code == 201
    assert told(audited)[1:] == [
        ("expired", "update", "expired", "confirmed", "expired"),
        ("created", "create", "201", None, "confirmed"),
    ]
    expired, created = events(audited)[1:]
    assert expired["initiator"]["name"] == "commitments"
    assert expired["initiator"]["typeURI"] == "service/resources/job"
    assert expired["initiator"]["request_id"] == created["initiator"]["request_id"]
    assert "requestPath" not in expired


@pytest.mark.sql
@pytest.mark.parametrize("table", ["quota_history", "audit_outbox"])
def test_a_change_that_cannot_be_written_down_does_not_happen(audited: World, table: str) -> None:
    audited.run(f"ALTER TABLE {table} RENAME TO lost")
    result = put(audited, "project", cores=25)
    assert result.status_code == 500
    assert "lost" not in result.text
    with audited.engine.connection():
        audited.engine.execute(f"ALTER TABLE lost RENAME TO {table}")
        assert audited.engine.rows("SELECT quota FROM project_resources WHERE project_id = 1 AND quota = 25") == []
        assert audited.engine.rows("SELECT number FROM quota_history") == []
    assert events(audited) == []


@pytest.mark.sql
def test_a_change_that_does_not_happen_is_not_written_down(audited: World) -> None:
    audited.run("UPDATE project_services SET quota_desynced_at = NULL, next_push_at = NULL")
    before = all_rows(audited.engine)

    class Broken(Exception):
        pass

    def work() -> Never:
        put(audited, "project", cores=25)  # joins this transaction
        assert len(events(audited)) == 1
        raise Broken

    with pytest.raises(Broken):
        audited.engine.atomic(work)
    assert changes(before, all_rows(audited.engine)) == {}


def test_what_a_client_makes_up_is_cut_to_size(audited: World) -> None:
    headers = {"User-Agent": "a" * 100_000}
    assert request_quotas(audited, PROJECT, {"cores": 21}, headers=headers).status_code == 202
    (event,) = events(audited)
    assert event["initiator"]["host"]["agent"] == "a" * 255


@pytest.mark.sql
def test_the_number_of_statements_does_not_grow_with_that_of_the_resources(audited: World) -> None:
    counts = []
    for quotas in ({"cores": 21}, {"cores": 22, "ram": 1025}):
        counts.append(len(statements_of(audited.engine, partial(put, audited, "project", **quotas))))
    assert counts[0] == counts[1]
    assert len(events(audited)) == 3
