"""Commitments over HTTP: making, listing, deleting, and what is refused, with the rows that changed."""

import re

import pytest

from limes.core.catalog import BehaviorRule
from limes.core.commitment_rules import CommitmentRules
from tests.api.commitments import BEHAVIORS, CORES, NOW, PATHS, amounts, ask, commit, events, listed, offer
from tests.support.rows import all_rows, changes

YEAR_2027 = 1798761600


@pytest.fixture
def cloud(make):
    return make(behaviors=BEHAVIORS)


def changed_tables(world, before):
    return set(changes(before, all_rows(world.engine)))


def test_an_immediate_commitment(cloud):
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


def test_a_planned_commitment_of_a_measured_resource(cloud):
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
        (
            {"resource_name": "ram", "duration": "1 year"},
            422,
            'resource does not accept AZ-aware commitments, so the AZ must be set to "any"',
        ),
        (
            {"duration": "3 years"},
            422,
            'unacceptable commitment duration for this resource, acceptable values: ["1 hour","1 year"]',
        ),
        ({"amount": 0}, 422, "amount of committed resource must be greater than zero"),
        ({"amount": -1}, 422, "amount of committed resource must be greater than zero"),
        ({"amount": 2**56 + 1}, 422, "amount is too large: the maximum is 72057594037927936"),
        ({"confirm_by": NOW - 1}, 422, f"confirm_by must not be set in the past (it is {NOW} now)"),
        ({"confirm_by": 10**17}, 422, "confirm_by is too far in the future"),
        ({"amount": 70}, 409, "not enough capacity available for immediate confirmation"),
        ({"duration": "a while"}, 400, "request body is not valid JSON: 'a while' is not a duration"),
        ({"amount": "10"}, 400, "request body is not valid JSON: commitment.amount: Input should be a valid integer"),
        ({"amount": 1.5}, 400, "request body is not valid JSON: commitment.amount: Input should be a valid integer"),
        ({"confirm_by": "soon"}, 400, "request body is not valid JSON: commitment.confirm_by"),
    ],
)
def test_what_is_refused(cloud, fields, status, text):
    before = all_rows(cloud.engine)
    result = ask(cloud, "berlin", "new", **{"amount": 1, **fields})
    assert (result.status_code, result.text[: len(text)]) == (status, text)
    assert changes(before, all_rows(cloud.engine)) == {}


def test_broken_bodies(cloud):
    for body in (b"{", b"[]", b"null", b'{"commitment": null}', b'{"commitment": {"amount": 1}}'):
        result = cloud.request("POST", f"{PATHS['berlin']}/commitments/new", body=body)
        assert result.status_code == 400
        assert result.text.startswith("request body is not valid JSON")


def test_a_project_that_was_never_scraped(cloud):
    for what in ("new", "can-confirm"):
        result = ask(cloud, "paris", what)
        assert (result.status_code, result.text[:44]) == (423, "no project report for resource compute/cores")


def test_unknown_projects(cloud):
    path = PATHS["berlin"].replace("uuid-for-berlin", "nowhere")
    for method, ending in (("GET", ""), ("POST", "/new"), ("POST", "/can-confirm"), ("POST", "/1/start-transfer")):
        result = cloud.request(method, f"{path}/commitments{ending}", json={"commitment": CORES})
        assert (result.status_code, result.text[:15]) == (404, "no such project")


def test_the_earliest_date(make):
    rule = BehaviorRule(
        re.compile("compute/cores"),
        commitment_durations=("1 hour",),
        commitment_is_az_aware=True,
        commitment_min_confirm_date=float(YEAR_2027),
    )
    world = make(behaviors=[rule])
    text = "this commitment needs a `confirm_by` timestamp at or after 2027-01-01T00:00:00Z\n"
    for fields in ({}, {"confirm_by": YEAR_2027 - 1}):
        result = ask(world, "berlin", "new", **fields)
        assert (result.status_code, result.text) == (422, text)
    assert ask(world, "berlin", "can-confirm").json == {"result": False}
    waiting = commit(world, confirm_by=YEAR_2027)
    world.clock.advance(YEAR_2027 - NOW - 1)
    assert ask(world, "berlin", "can-confirm").json == {"result": False}
    assert ask(world, "berlin", "new").status_code == 422
    world.clock.advance(1)  # from that very second on
    assert ask(world, "berlin", "can-confirm").json == {"result": True}
    assert commit(world)["status"] == "confirmed"
    assert listed(world)[0] == {**waiting, "status": "confirmed", "confirmed_at": YEAR_2027}


def test_can_confirm_says_what_new_does(cloud):
    """az-one has 100: dresden uses 31, so 69 are left for berlin, whose own usage of 2 is covered by a commitment."""
    before = all_rows(cloud.engine)
    assert ask(cloud, "berlin", "can-confirm", amount=69).json == {"result": True}
    assert ask(cloud, "berlin", "can-confirm", amount=70).json == {"result": False}
    assert ask(cloud, "dresden", "can-confirm", amount=98).json == {"result": True}
    result = ask(cloud, "berlin", "can-confirm", amount=1, confirm_by=YEAR_2027)
    assert (result.status_code, result.text[:31]) == (422, "confirm_by must not be set here")
    assert changes(before, all_rows(cloud.engine)) == {}
    commit(cloud, amount=69)
    assert ask(cloud, "berlin", "can-confirm", amount=1).json == {"result": False}
    assert ask(cloud, "dresden", "new", amount=32).status_code == 409
    commit(cloud, "dresden", amount=31)


def test_overcommit_counts(make):
    world = make(behaviors=[*BEHAVIORS, BehaviorRule(re.compile("compute/cores"), overcommit_factor=1.5)])
    assert ask(world, "berlin", "can-confirm", amount=119).json == {"result": True}
    assert ask(world, "berlin", "can-confirm", amount=120).json == {"result": False}


def test_a_resource_without_capacity_cannot_be_confirmed(cloud):
    fields = {"service_type": "volume", "resource_name": "capacity", "duration": "1 year", "amount": 1}
    assert ask(cloud, "berlin", "can-confirm", **fields).json == {"result": False}
    assert ask(cloud, "berlin", "new", **fields).status_code == 409


def test_lists(cloud):
    commit(cloud, amount=1)
    commit(cloud, amount=2, resource_name="ram", availability_zone="any", duration="1 year")
    commit(cloud, "dresden", amount=3)
    assert amounts(cloud) == [(1, "confirmed"), (2, "confirmed")]
    assert [one["amount"] for one in listed(cloud, query="?resource=ram")] == [2]
    assert [one["amount"] for one in listed(cloud, query="?service=compute")] == [1, 2]
    assert listed(cloud, query="?service=volume") == []
    cloud.clock.advance(3600)  # nothing but time has passed: no job has run
    assert amounts(cloud) == [(2, "confirmed")]
    assert [(one["amount"], one["status"]) for one in listed(cloud, query="?history")] == [
        (1, "expired"),
        (2, "confirmed"),
    ]


def test_what_has_expired_frees_its_capacity_at_once(cloud):
    commit(cloud, amount=69)
    cloud.clock.advance(3599)
    assert ask(cloud, "berlin", "can-confirm", amount=1).json == {"result": False}
    cloud.clock.advance(1)
    assert ask(cloud, "berlin", "can-confirm", amount=69).json == {"result": True}


def test_those_that_wait_come_first(cloud):
    """A new commitment does not take what a pending one can have."""
    commit(cloud, amount=60)
    commit(cloud, "dresden", amount=60, confirm_by=NOW + 10)
    cloud.clock.advance(3600)
    assert ask(cloud, "berlin", "can-confirm", amount=60).json == {"result": False}
    assert ask(cloud, "berlin", "new", amount=60).status_code == 409
    commit(cloud, amount=40)
    assert amounts(cloud, "dresden") == [(60, "confirmed")]
    confirmed = listed(cloud, "dresden")[0]
    assert (confirmed["confirmed_at"], confirmed["expires_at"]) == (NOW + 3600, NOW + 3610)  # the end does not move


def test_only_unconfirmed_ones_are_deleted(cloud):
    confirmed, planned = commit(cloud, amount=1), commit(cloud, amount=2, confirm_by=YEAR_2027)
    before = all_rows(cloud.engine)
    result = cloud.request("DELETE", f"{PATHS['berlin']}/commitments/{confirmed['id']}")
    assert (result.status_code, result.text) == (
        403,
        "only unconfirmed commitments can be deleted, and this one is confirmed\n",
    )
    assert changes(before, all_rows(cloud.engine)) == {}
    for project, number in (("dresden", planned["id"]), ("berlin", 4711), ("berlin", "x"), ("berlin", 10**30)):
        result = cloud.request("DELETE", f"{PATHS[project]}/commitments/{number}")
        assert (result.status_code, result.text) == (404, "no such commitment\n")
    result = cloud.request("DELETE", f"{PATHS['berlin']}/commitments/{planned['id']}")
    assert (result.status_code, result.text) == (204, "")
    assert changed_tables(cloud, before) == {"project_commitments", "commitment_events", "commitment_event_counter"}
    assert amounts(cloud) == [(1, "confirmed")]
    assert events(cloud)[-1] == ("deleted", 2)


def test_a_mistake_is_taken_back(make):
    world = make(behaviors=BEHAVIORS, commitment_rules=CommitmentRules(self_delete_grace=60))
    one, two = commit(world, amount=60), commit(world, amount=9)
    commit(world, "dresden", amount=61, confirm_by=NOW + 1)
    world.clock.advance(59)
    delete = f"{PATHS['berlin']}/commitments"
    assert world.request("DELETE", f"{delete}/{one['id']}", "berlin-member").status_code == 403
    assert world.request("DELETE", f"{delete}/{one['id']}", "berlin-admin").status_code == 204
    assert amounts(world, "dresden") == [(61, "confirmed")]  # it has waited for just this
    world.clock.advance(1)
    assert world.request("DELETE", f"{delete}/{two['id']}", "berlin-admin").status_code == 403
    planned = commit(world, amount=2, confirm_by=YEAR_2027)
    world.clock.advance(60)
    result = world.request("DELETE", f"{delete}/{planned['id']}", "berlin-admin")
    assert (result.status_code, result.text) == (403, "commitments can only be taken back for 60 seconds\n")


def test_a_renewal_is_taken_back_but_not_what_was_made_of_others(make):
    world = make(behaviors=BEHAVIORS, commitment_rules=CommitmentRules(self_delete_grace=60))
    old = commit(world, amount=10)
    world.clock.advance(60)
    path = f"{PATHS['berlin']}/commitments"
    renewed = world.request("POST", f"{path}/{old['id']}/renew", "berlin-admin").json["commitment"]
    world.clock.advance(59)
    assert world.request("DELETE", f"{path}/{renewed['id']}", "berlin-admin").status_code == 204
    part = offer(world, old["id"], 4).json["commitment"]
    assert world.request("DELETE", f"{path}/{part['id']}", "berlin-admin").status_code == 403
    assert amounts(world) == [(4, "confirmed"), (6, "confirmed")]


def test_idempotency_key(cloud):
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


def test_events_are_seen_once(cloud):
    for amount in (1, 2, 3):
        commit(cloud, amount=amount)
    seen, since = [], 0
    while found := cloud.get(f"/v1/commitments?since={since}&limit=2")["events"]:
        seen += [(one["number"], one["commitment"]["amount"]) for one in found]
        since = found[-1]["number"]
    assert seen == [(1, 1), (2, 2), (3, 3)]
    last = cloud.get(f"/v1/commitments?since={since}")
    assert last == {"events": [], "next": since}
    event = cloud.get("/v1/commitments?limit=1")["events"][0]
    assert (event["event"], event["at"]) == ("created", NOW)
    assert (event["commitment"]["project_id"], event["commitment"]["domain_id"]) == (
        "uuid-for-berlin",
        "uuid-for-germany",
    )
    for query in ("since=x", "since=-1", "limit=0", "limit=10001", "since="):
        assert cloud.request("GET", "/v1/commitments", query_string=query).status_code == 400


def test_quota_is_not_lowered_below_what_was_guaranteed(cloud):
    commit(cloud, amount=8)
    commit(cloud, amount=4, availability_zone="az-two")
    commit(cloud, amount=100, confirm_by=YEAR_2027)
    body = {"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": 11}]}]}}
    result = cloud.request("PUT", PATHS["berlin"], json=body)
    assert (result.status_code, result.text) == (
        409,
        "cannot change compute/cores quota: quota may not be lower than confirmed commitments"
        " (minimum acceptable project quota is 12)\n",
    )
    body["project"]["services"][0]["resources"][0]["quota"] = 12
    assert cloud.request("PUT", PATHS["berlin"], json=body).status_code == 202
