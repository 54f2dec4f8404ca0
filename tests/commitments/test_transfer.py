"""Transfers over HTTP: whole and in part, what is refused, and that nothing is lost or counted twice."""

import logging
from collections.abc import Callable

import pytest

from tests.api.world import World
from tests.commitments.commitments import BEHAVIORS, PATHS, amounts, ask, commit, events, listed, offer, take
from tests.quota.quotas import request_quotas
from tests.support.rows import all_rows, changes

INVALID = "request body is not valid JSON"


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    return make(behaviors=BEHAVIORS)


@pytest.mark.sql
def test_the_whole(cloud: World) -> None:
    made = commit(cloud, amount=10)
    before = all_rows(cloud.engine)
    offered = offer(cloud, made["id"], 10)
    assert offered.status_code == 202
    shown = offered.json["commitment"]
    assert (shown["id"], shown["transfer_status"], shown["transferable"]) == (made["id"], "unlisted", True)
    assert len(shown["transfer_token"]) == 48
    again = offer(cloud, made["id"], 99).json["commitment"]
    assert again["transfer_token"] != shown["transfer_token"]
    assert take(cloud, made["id"], shown["transfer_token"]).status_code == 404
    result = take(cloud, made["id"], again["transfer_token"])
    assert (result.status_code, result.json["commitment"]) == (202, made)
    assert (listed(cloud), listed(cloud, "dresden")) == ([], [made])
    assert take(cloud, made["id"], again["transfer_token"]).text == "no matching commitment found\n"
    tables = set(changes(before, all_rows(cloud.engine)))
    assert tables == {"project_commitments", "commitment_events", "commitment_event_counter"}


@pytest.mark.sql
def test_a_part(cloud: World) -> None:
    made = commit(cloud, amount=10)
    part = offer(cloud, made["id"], 4).json["commitment"]
    assert (part["amount"], part["expires_at"], part["confirmed_at"]) == (4, made["expires_at"], made["confirmed_at"])
    assert amounts(cloud) == [(4, "confirmed"), (6, "confirmed")]
    old = listed(cloud, query="?history")[0]
    assert (old["amount"], old["status"]) == (10, "superseded")
    assert ask(cloud, "berlin", "can-confirm", amount=59).json["result"] is True  # it is not counted twice
    assert ask(cloud, "berlin", "can-confirm", amount=60).json["result"] is False
    assert take(cloud, part["id"], part["transfer_token"]).status_code == 202
    assert (amounts(cloud), amounts(cloud, "dresden")) == ([(6, "confirmed")], [(4, "confirmed")])
    assert events(cloud) == [
        ("created", 10),
        ("superseded", 10),
        ("created", 4),
        ("created", 6),
        ("transfer_started", 4),
        ("transferred", 4),
    ]


def test_the_token_in_the_query(cloud: World) -> None:
    made = commit(cloud)
    token = offer(cloud, made["id"], 10).json["commitment"]["transfer_token"]
    path = f"{PATHS['dresden']}/transfer-commitment/{made['id']}"
    assert cloud.request("POST", path, query_string=f"token={token}").status_code == 202


@pytest.mark.parametrize(
    ("amount", "status", "code", "text"),
    [
        (1, "secret", 400, '"Invalid transfer_status code. Must be unlisted or public."\n'),
        (0, "public", 400, '"Delivered amount needs to be a positive value."\n'),
        (-5, "unlisted", 400, f"{INVALID}: commitment.amount: Input should be greater than or equal to 0\n"),
    ],
)
def test_bad_offers(cloud: World, amount: int, status: str, code: int, text: str) -> None:
    made = commit(cloud)
    before = all_rows(cloud.engine)
    result = offer(cloud, made["id"], amount, status=status)
    assert (result.status_code, result.text) == (code, text)
    assert changes(before, all_rows(cloud.engine)) == {}


def test_what_cannot_be_offered(cloud: World) -> None:
    planned = commit(cloud, confirm_by=1800000000)
    result = offer(cloud, planned["id"], 5)
    assert (result.status_code, result.text) == (422, "commitment needs to be confirmed in order to transfer it.\n")
    made = commit(cloud)
    for project, number in (("dresden", made["id"]), ("berlin", 4711), ("berlin", "nine")):
        result = offer(cloud, number, 5, project=project)
        assert (result.status_code, result.text) == (404, "no such commitment\n")
    cloud.clock.advance(3600)
    assert offer(cloud, made["id"], 5).status_code == 404


def test_wrong_tokens_and_numbers(cloud: World) -> None:
    first, second = commit(cloud, amount=1), commit(cloud, amount=2)
    token = offer(cloud, first["id"], 1).json["commitment"]["transfer_token"]
    before = all_rows(cloud.engine)
    for number, given in ((second["id"], token), (first["id"], "x" * 48), (first["id"], "ä"), (4711, token)):
        result = take(cloud, number, given.encode().decode("latin-1"))
        assert (result.status_code, result.text) == (404, "no matching commitment found\n")
    result = cloud.request("POST", f"{PATHS['dresden']}/transfer-commitment/{first['id']}")
    assert (result.status_code, result.text) == (400, "no transfer token provided\n")
    result = take(cloud, first["id"], token, project="paris")
    assert (result.status_code, result.text[:30]) == (423, "no project report for resource")
    assert changes(before, all_rows(cloud.engine)) == {}


def test_an_offer_is_withdrawn(cloud: World) -> None:
    made = commit(cloud)
    token = offer(cloud, made["id"], 10).json["commitment"]["transfer_token"]
    result = offer(cloud, made["id"], 10, status="")
    assert (result.status_code, result.json["commitment"]) == (202, made)
    assert take(cloud, made["id"], token).status_code == 404
    assert events(cloud)[-1] == ("transfer_withdrawn", 10)


def test_usage_that_a_commitment_has_covered_needs_capacity_of_its_own(cloud: World) -> None:
    """az-one: dresden uses 31. If its commitment goes to berlin, both claim capacity."""
    made = commit(cloud, "dresden", amount=31)
    commit(cloud, "berlin", amount=50)
    token = offer(cloud, made["id"], 31, project="dresden").json["commitment"]["transfer_token"]
    result = take(cloud, made["id"], token, project="berlin")
    assert (result.status_code, result.text[:30]) == (409, "not enough capacity available ")
    assert amounts(cloud, "dresden") == [(31, "confirmed")]


def test_a_move_frees_capacity_for_those_that_wait(cloud: World) -> None:
    made = commit(cloud, "berlin", amount=60)
    commit(cloud, "berlin", amount=40, confirm_by=1767225610, availability_zone="az-one")
    cloud.clock.advance(20)
    token = offer(cloud, made["id"], 60).json["commitment"]["transfer_token"]
    assert take(cloud, made["id"], token).status_code == 202  # it covers what dresden uses anyway
    assert amounts(cloud) == [(40, "confirmed")]


@pytest.mark.sql
def test_public_offers(cloud: World) -> None:
    cores, ram = commit(cloud), commit(cloud, resource_name="ram", availability_zone="any", duration="1 year")
    hidden = commit(cloud, amount=3)
    offer(cloud, cores["id"], 10, status="public")
    offer(cloud, ram["id"], 10, status="public")
    offer(cloud, hidden["id"], 3)
    found = cloud.get("/v1/public-commitments", "dresden-admin")["commitments"]
    assert [commitment["id"] for commitment in found] == [cores["id"], ram["id"]]
    assert not {"creator_name", "creator_uuid"} & set(found[0])
    found = cloud.get("/v1/public-commitments?resource=cores", "dresden-admin")["commitments"]
    assert [commitment["id"] for commitment in found] == [cores["id"]]
    assert take(cloud, found[0]["id"], found[0]["transfer_token"]).status_code == 202
    assert [commitment["id"] for commitment in cloud.get("/v1/public-commitments")["commitments"]] == [ram["id"]]


def test_a_look_before_one_takes_it(cloud: World) -> None:
    made = commit(cloud)
    token = offer(cloud, made["id"], 10).json["commitment"]["transfer_token"]
    result = cloud.request("GET", "/v1/commitments/by-token", "dresden-admin", headers={"Transfer-Token": token})
    assert (result.status_code, result.json["commitment"]["id"]) == (200, made["id"])
    for other, status in (("a" * 48, 404), ("x" * 48, 404), ("%00", 400), ("%ff", 404), ("a" * 5000, 404)):
        assert cloud.request("GET", "/v1/commitments/by-token", query_string=f"token={other}").status_code == status


def test_tokens_are_secrets(cloud: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    made = commit(cloud)
    token = offer(cloud, made["id"], 10).json["commitment"]["transfer_token"]
    path = f"{PATHS['berlin']}/commitments"
    assert cloud.get(path, "berlin-admin")["commitments"][0]["transfer_token"] == token
    assert "transfer_token" not in cloud.get(path, "berlin-member")["commitments"][0]
    cloud.request("POST", f"{PATHS['dresden']}/transfer-commitment/{made['id']}", query_string=f"token={token}")
    assert token not in str(cloud.get("/v1/commitments"))
    assert token not in "".join(
        record.getMessage() for record in caplog.records if not record.name.startswith("peewee")
    )


def test_what_is_offered_is_no_floor_under_quota(cloud: World) -> None:
    """Transferable commitments do not count towards quota, but still block capacity (the API document)."""
    made = commit(cloud, amount=12)
    offer(cloud, made["id"], 12)
    assert request_quotas(cloud, PATHS["berlin"], {"cores": 11}).status_code == 202
    assert ask(cloud, "berlin", "can-confirm", amount=58).json["result"] is False
