"""Commitments: making, asking first, moving, changing, deleting."""

import pytest

from tests.api.world import BERLIN
from tests.commitments.commitments import NOW
from tests.osc.client import User
from tests.osc.conftest import Cloud, Login
from tests.support.rows import all_rows, changes

CORES = "compute/cores 10 --az az-one --duration '1 hour'"
HOUR = "2026-01-01T01:00:00Z"


def test_create(cloud: Cloud, berlin: User) -> None:
    made = berlin.json(f"commitment create {CORES}")
    uuid, number = made.pop("uuid"), made.pop("id")
    assert made == {
        "service": "compute",
        "resource": "cores",
        "az": "az-one",
        "amount": 10,
        "duration": "1 hour",
        "status": "confirmed",
        "confirm_by": None,
        "confirmed_at": "2026-01-01T00:00:00Z",
        "expires_at": HOUR,
        "superseded_at": None,
        "transfer_status": None,
        "auto_renew": None,
        "created_at": "2026-01-01T00:00:00Z",
        "created_by": "@",
        "transfer_token": None,
        "unit": "",
    }
    rows = cloud.engine.rows("SELECT id, uuid, amount FROM project_commitments")
    assert rows == [(number, uuid, 10)]
    [listed] = berlin.json("commitment list")
    assert (listed["id"], listed["status"]) == (number, "confirmed")
    assert berlin.json("commitment list --resource ram") == []


def test_a_commitment_beyond_the_quota(berlin: User) -> None:
    said = (
        "warning: the project's commitments to compute/cores add up to 21, but its quota is 20:"
        " what is beyond it cannot be used before the quota is raised\n"
    )
    wish = "compute/cores 21 --az az-one --duration '1 hour'"
    for what in ("plan", "can-confirm", "create"):
        outcome = berlin.run(f"commitment {what} {wish} -f json")
        assert (outcome.status, outcome.errors) == (0, said)
        assert outcome.json


def test_an_idempotent_command(berlin: User) -> None:
    first = berlin.json(f"commitment create {CORES} --idempotency-key order-1")
    again = berlin.json(f"commitment create {CORES} --idempotency-key order-1")
    assert again == first
    assert len(berlin.json("commitment list")) == 1


def test_units_and_plans_for_later(berlin: User) -> None:
    made = berlin.json("commitment create compute/ram 1.5GiB --duration '2 years' --confirm-by 2026-02-01")
    assert (made["amount"], made["unit"], made["az"], made["status"]) == (1536, "MiB", "any", "planned")
    assert (made["confirm_by"], made["expires_at"]) == ("2026-02-01T00:00:00Z", "2028-02-01T00:00:00Z")
    later = berlin.json(f"commitment create compute/ram 1GiB --duration '2 years' --confirm-by {NOW + 60}")
    assert later["confirm_by"] == "2026-01-01T00:01:00Z"
    table = berlin.must("commitment list")
    assert "| 1.5 GiB | planned | 2026-02-01 | 2028-02-01 |" in table


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (
            "create compute/gpus 1",
            "compute/gpus: there are no commitments to it (but to compute/cores, compute/ram, volume/capacity)",
        ),
        ("create compute/nope 1", "compute/nope: compute has no such resource; there are: cores, gpus, ram"),
        ("create compute/cores 1 --az az-one", "--duration: which one? There are: 1 hour, 1 year"),
        ("create compute/cores 1GiB --duration '1 year'", "'1GiB' has a unit, the resource has none"),
        ("create compute/ram 5 --duration '1 year'", "'5' has no unit (did you mean 5MiB?)"),
        ("create cores 5", "'cores': expected <service>/<resource>, such as compute/cores"),
        ("create compute/cores 5 --confirm-by soon", "'soon' is not a time (expected for example 2027-01-31"),
        ("create compute/cores 5 --duration '1 year'", "--az: which one? There are: az-one, az-two"),
        (
            "create compute/cores 5 --az eins",
            "--az eins: one cannot commit to compute/cores there; there are: az-one, az-two",
        ),
        (
            "create compute/ram 5GiB --az az-one",
            "--az az-one: commitments to compute/ram are for all availability zones",
        ),
        ("create compute/cores 5 --az az-one --duration '2 years'", 'acceptable values: ["1 hour","1 year"]'),
        ("create compute/cores 5000 --az az-one --duration '1 year'", "not enough capacity available"),
        ("show 4711", "the project has no commitment 4711"),
        ("transfer start 4711", "the project has no commitment 4711"),
        ("transfer accept", "a token is needed: --token, or OS_LIMES_TRANSFER_TOKEN"),
        ("transfer accept --token guess", "HTTP 404"),
        ("renew 4711", "HTTP 404"),
        ("merge 4711", "HTTP 404"),
        ("delete 4711", "the roles of this token do not allow it"),
        ("event list", "the roles of this token do not allow it"),
    ],
)
def test_what_is_refused(cloud: Cloud, berlin: User, command: str, problem: str) -> None:
    before = all_rows(cloud.engine)
    assert problem in berlin.refused(f"commitment {command}")
    assert all_rows(cloud.engine) == before


def test_asking_first(cloud: Cloud, berlin: User) -> None:
    before = all_rows(cloud.engine)
    assert berlin.json(f"commitment can-confirm {CORES}") == {"result": True}
    much = "compute/cores 9999 --az az-one --duration '1 hour'"
    outcome = berlin.run(f"commitment can-confirm {much} -f value")
    assert (outcome.status, outcome.out) == (1, "False\n")
    assert berlin.json(f"commitment plan {CORES}") == {
        "confirmable_now": 119,
        "confirmable_at": "2026-01-01T00:00:00Z",
        "missing_capacity": None,
        "used_in_unknown_zones": None,
        "blocked_by": [],
        "unit": "",
    }
    assert changes(before, all_rows(cloud.engine)) == {}


def test_a_plan_says_what_blocks(cloud: Cloud, berlin: User, dresden: User) -> None:
    dresden.must("commitment create compute/cores 60 --az az-one --duration '1 hour'")
    plan = berlin.json("commitment plan compute/cores 120 --az az-one --duration '1 year'")
    assert plan["blocked_by"] == [{"amount": 60, "availability_zone": "az-one", "expires_at": HOUR}]
    assert (plan["confirmable_now"], plan["missing_capacity"]) == (90, 1)
    table = berlin.must("commitment plan compute/cores 110 --az az-one --duration '1 year'")
    assert "| 60 in az-one until 2026-01-01 01:00:00 UTC |" in table


def test_transfer(cloud: Cloud, berlin: User, dresden: User) -> None:
    made = cloud.commit()
    offered = berlin.json(f"commitment transfer start {made['id']} --amount 4")
    assert (offered["amount"], offered["transfer_status"]) == (4, "unlisted")
    token = offered["transfer_token"]
    assert dresden.json("commitment offer list") == []
    assert dresden.json(f"commitment offer show --token {token}")["amount"] == 4
    taken = dresden.json("commitment transfer accept", OS_LIMES_TRANSFER_TOKEN=token)
    assert (taken["id"], taken["amount"], taken["transfer_status"]) == (offered["id"], 4, None)
    assert [one["amount"] for one in berlin.json("commitment list")] == [6]
    assert [one["amount"] for one in dresden.json("commitment list")] == [4]
    ended = berlin.json(f"commitment show {made['id']}")
    assert (ended["status"], ended["superseded_at"]) == ("superseded", "2026-01-01T00:00:00Z")


def test_public_offers_and_their_withdrawal(cloud: Cloud, berlin: User, dresden: User) -> None:
    made = cloud.commit()
    token = berlin.json(f"commitment transfer start {made['id']} --public")["transfer_token"]
    [offer] = dresden.json("commitment offer list --resource compute/cores")
    assert (offer["id"], offer["amount"], offer["transfer_token"]) == (made["id"], 10, token)
    assert "Transfer Token" not in berlin.must("commitment list")
    assert token in berlin.must("commitment list --long")
    assert token not in dresden.must("commitment offer list")
    assert token in dresden.must("commitment offer list --long")
    assert berlin.json(f"commitment transfer cancel {made['id']}")["transfer_status"] is None
    assert dresden.json("commitment offer list") == []


def test_taking_what_is_offered_to_everybody(cloud: Cloud, berlin: User, dresden: User) -> None:
    made = cloud.commit()
    berlin.must(f"commitment transfer start {made['id']} --public")
    assert "give an ID or a token, not both" in dresden.refused("commitment transfer accept 1 --token x")
    assert "no commitment 4711 is on offer: see" in dresden.refused("commitment transfer accept 4711")
    # a token in the environment is for another one
    taken = dresden.json(f"commitment transfer accept {made['id']}", OS_LIMES_TRANSFER_TOKEN="another")
    assert (taken["id"], taken["amount"]) == (made["id"], 10)
    assert [one["amount"] for one in dresden.json("commitment list")] == [10]
    assert berlin.json("commitment list") == []


def test_what_is_offered_to_some_needs_the_token(cloud: Cloud, berlin: User, dresden: User) -> None:
    made = cloud.commit()
    berlin.must(f"commitment transfer start {made['id']}")
    assert "is on offer: see" in dresden.refused(f"commitment transfer accept {made['id']}")


def test_tokens_are_not_in_the_log(cloud: Cloud, berlin: User, dresden: User) -> None:
    made = cloud.commit()
    command = f"--debug limes commitment transfer start {made['id']} -f value -c 'Transfer Token'"
    outcome = berlin.client.run(command, berlin.env)
    token = outcome.out.strip()
    assert len(token) == 48
    assert "REQ: curl" in outcome.errors
    assert token not in outcome.errors
    accepted = dresden.client.run(
        "--debug limes commitment transfer accept", dresden.env | {"OS_LIMES_TRANSFER_TOKEN": token}
    )
    assert accepted.status == 0
    assert token not in accepted.errors


def test_changes(cloud: Cloud, berlin: User) -> None:
    one, two = cloud.commit(), cloud.commit(amount=5)
    merged = berlin.json(f"commitment merge {one['id']} {two['id']}")
    assert (merged["amount"], merged["status"]) == (15, "confirmed")
    longer = berlin.json(f"commitment set {merged['id']} --duration '1 year'")
    assert longer["expires_at"] == "2027-01-01T00:00:00Z"
    assert berlin.json(f"commitment set {merged['id']} --auto-renew")["auto_renew"] is True
    assert berlin.json(f"commitment set {merged['id']} --no-auto-renew")["auto_renew"] is None
    assert "not allowed with" in berlin.refused(f"commitment set {merged['id']} --auto-renew --duration '1 year'")
    short = cloud.commit(amount=1)
    renewed = berlin.json(f"commitment renew {short['id']}")
    assert (renewed["status"], renewed["confirm_by"]) == ("planned", HOUR)
    assert "HTTP 409" in berlin.refused(f"commitment renew {short['id']}")
    assert "it may only end later" in berlin.refused(f"commitment set {merged['id']} --duration '1 hour'")


def test_conversion(cloud: Cloud, berlin: User) -> None:
    cloud.add_capacity()
    made = cloud.commit(duration="1 year")
    [rate] = berlin.json("commitment conversion list compute/cores")
    assert rate == {"target_service": "volume", "target_resource": "capacity", "source_amount": 3, "target_amount": 2}
    convert = f"commitment convert {made['id']}"
    assert "compute has no such resource; did you mean cores?" in berlin.refused(
        "commitment conversion list compute/core"
    )
    assert "only multiples of 3 can be converted to volume/capacity" in berlin.refused(
        f"{convert} --to volume/capacity"
    )
    assert "(it can to: volume/capacity)" in berlin.refused(f"{convert} --to compute/ram")
    found = berlin.json(f"{convert} --to volume/capacity --amount 6")
    assert (found["service"], found["resource"], found["amount"], found["unit"]) == ("volume", "capacity", 4, "GiB")


def test_delete(cloud: Cloud, login: Login) -> None:
    admin = login("cloud-admin", OS_LIMES_DOMAIN="germany", OS_LIMES_PROJECT="berlin")
    confirmed, planned = cloud.commit(), cloud.commit(confirm_by=NOW + 600)
    said = admin.refused(f"commitment delete {confirmed['id']} {planned['id']}")
    assert f"commitment {confirmed['id']}: " in said
    assert f"commitment {planned['id']}: " not in said
    assert [one["id"] for one in admin.json("commitment list")] == [confirmed["id"]]


def test_events(cloud: Cloud, admin: User) -> None:
    made = cloud.commit()
    cloud.post(f"{made['id']}/start-transfer", amount=10, transfer_status="public")
    found = admin.json("commitment event list")
    assert [(one["event"], one["uuid"], one["project_id"]) for one in found] == [
        ("created", made["uuid"], BERLIN),
        ("transfer_started", made["uuid"], BERLIN),
    ]
    assert admin.json("commitment event list --status expired --changed-since 1") == []
    assert admin.json("commitment event list --changed-until 2025-12-31") == []
    assert admin.json("commitment event list --status confirmed --status planned") == found
    assert admin.json("commitment event list --az az-nowhere --domain-id d --project-id p --changed-until 9") == []
    after = admin.json(f"commitment event list --since {found[0]['number']} --limit 1")
    assert [one["event"] for one in after] == ["transfer_started"]


def test_utilisation(cloud: Cloud, berlin: User) -> None:
    for day, used in ((20452, 4), (20453, 6)):
        cloud.engine.execute(
            "INSERT INTO commitment_use (project_id, resource_id, az, day, looks, usage_sum, usage_min, usage_max,"
            " committed_sum) SELECT 1, id, 'az-one', %s, 2, %s, 1, 9, 20 FROM resources WHERE name = 'cores'",
            [day, 2 * used],
        )
    [last] = berlin.json("commitment utilisation list")
    assert last == {
        "service": "compute",
        "resource": "cores",
        "az": "az-one",
        "recommended": 0,
        "date": "2025-12-31",
        "committed": 10,
        "used": 6,
        "unused": 4,
        "min_used": 1,
        "max_used": 9,
        "unit": "",
    }
    daily = berlin.json("commitment utilisation list --daily --days 30")
    assert [(one["date"], one["used"]) for one in daily] == [("2025-12-30", 4), ("2025-12-31", 6)]
