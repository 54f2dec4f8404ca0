"""What members of a project propose, and what its admins make of it."""

import json
import re
from collections.abc import Callable

import pytest
from msgspec import structs

from limes.requests.rules import AutoApprovalRule
from tests.api.world import IDENTITIES, World
from tests.quota.quotas import request_quotas
from tests.quota.temporary import START
from tests.requests.quota_requests import PATHS, act, ask, asked, kinds, quota, services, show, status
from tests.requests.test_notifications import DAY, mails, notifier, steps, told
from tests.support.rows import all_rows, changes


@pytest.fixture(autouse=True)
def another_member(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(IDENTITIES, "another-member", structs.replace(IDENTITIES["berlin-member"], user_id="u12"))


def proposed(world: World, token: str = "berlin-member", **quotas: object) -> int:
    return asked(world, "berlin", token, **(quotas or {"compute": {"cores": 40}}))


def waiting(world: World, where: str = "germany", query: str = "status=open") -> list[int]:
    return [each["id"] for each in world.get(f"{PATHS[where]}/quota-requests?{query}")["quota_requests"]]


@pytest.mark.sql
def test_a_proposal_is_confirmed_and_approved(world: World) -> None:
    id_ = proposed(world)
    assert (status(world, "berlin", id_), waiting(world)) == ("proposed", [])
    assert waiting(world, "berlin", "status=proposed") == [id_]
    result = act(world, "berlin", id_, "approve", "germany-admin")
    assert (result.status_code, result.text) == (409, f"quota request {id_} is proposed, not open\n")
    assert act(world, "berlin", id_, "pass-on", "germany-admin").status_code == 409
    result = act(world, "berlin", id_, "confirm", "berlin-admin", comment="we need it")
    assert (result.status_code, result.json["quota_request"]["status"]) == (200, "open")
    assert waiting(world) == [id_]
    again = act(world, "berlin", id_, "confirm", "berlin-admin")
    assert (again.status_code, again.text) == (409, f"quota request {id_} is open, not proposed\n")
    assert act(world, "berlin", id_, "approve", "germany-admin").status_code == 200
    assert quota(world) == 40
    request = show(world, "berlin", id_)
    assert request["requester"]["id"] == "u7", "whose idea it was"
    assert [(event["kind"], event["author"]["id"]) for event in request["conversation"]] == [
        ("proposed", "u7"),
        ("confirmed", "u6"),
        ("approved", "u3"),
    ]


def test_who_proposes_cannot_confirm(world: World) -> None:
    id_, token = proposed(world), "berlin-member"
    before = all_rows(world.engine)
    for verb, document in (("confirm", {}), ("reject", {"reason": "no"}), ("approve", {})):
        assert act(world, "berlin", id_, verb, token, **document).status_code == 403
    assert changes(before, all_rows(world.engine)) == {}


def test_who_rejects_what(world: World) -> None:
    """Whoever may confirm rejects a proposal; who decides, an open request."""
    first = proposed(world)
    result = act(world, "berlin", first, "reject", "berlin-admin", reason="not now")
    assert (result.status_code, status(world, "berlin", first)) == (200, "rejected")
    second = proposed(world)
    act(world, "berlin", second, "confirm", "berlin-admin")
    result = act(world, "berlin", second, "reject", "berlin-admin", reason="not now")
    expected = f"quota request {second} is open: only who decides on it may reject it\n"
    assert (result.status_code, result.text) == (403, expected)
    assert act(world, "berlin", second, "reject", "germany-admin", reason="not now").status_code == 200
    assert kinds(world, "berlin", second) == ["proposed", "confirmed", "rejected"]


def test_readers_only_read(world: World) -> None:
    id_ = proposed(world)
    assert ask(world, "berlin", "berlin-reader", compute={"cores": 50}).status_code == 403
    for verb, document in (("withdraw", {}), ("comments", {"comment": "hm"}), ("confirm", {})):
        assert act(world, "berlin", id_, verb, "berlin-reader", **document).status_code == 403
    assert show(world, "berlin", id_, "berlin-reader")["status"] == "proposed"


def test_members_withdraw_and_discuss_their_own(world: World) -> None:
    id_ = proposed(world)
    for verb, document in (("withdraw", {}), ("comments", {"comment": "hm"})):
        result = act(world, "berlin", id_, verb, "another-member", **document)
        assert (result.status_code, result.text) == (
            403,
            "only admins of the project may do this to requests of others\n",
        )
    assert act(world, "berlin", id_, "comments", "berlin-member", comment="please").status_code == 201
    assert act(world, "berlin", id_, "withdraw", "berlin-member").status_code == 200
    assert kinds(world, "berlin", id_) == ["proposed", "comment", "withdrawn"]
    confirmed = proposed(world)
    act(world, "berlin", confirmed, "confirm", "berlin-admin")
    result = act(world, "berlin", confirmed, "withdraw", "berlin-member")
    assert (result.status_code, result.text) == (409, f"quota request {confirmed} is open, not proposed\n")
    assert act(world, "berlin", confirmed, "comments", "berlin-member", comment="please").status_code == 201
    assert act(world, "berlin", confirmed, "withdraw", "berlin-admin").status_code == 200


@pytest.mark.sql
def test_one_of_both_a_resource(world: World) -> None:
    first = proposed(world)
    result = ask(world, "berlin", "another-member", compute={"cores": 50})
    text = f"quota request {first} is proposed and asks for compute/cores already: admins of the project can change or withdraw it\n"
    assert (result.status_code, result.text) == (409, text)
    second = proposed(world, compute={"cores": 50, "ram": 2048})
    assert status(world, "berlin", first) == "superseded", "one's own"
    third = asked(world, "berlin", compute={"cores": 50, "ram": 2048})
    assert status(world, "berlin", second) == "superseded", "by an admin"
    result = ask(world, "berlin", "berlin-member", compute={"cores": 60, "ram": 3000})
    assert result.status_code == 409
    assert result.text.startswith(f"quota request {third} is open and asks for compute/cores, compute/ram already")
    assert status(world, "berlin", third) == "open"


def test_proposals_count_for_the_limit_of_a_day(make: Callable[..., World]) -> None:
    world = make(requests_per_day=2)
    for cores in (40, 41):
        proposed(world, compute={"cores": cores})
    assert ask(world, "berlin", compute={"cores": 42}).status_code == 409


def test_what_does_not_make_sense_any_more_cannot_be_confirmed(world: World) -> None:
    id_ = proposed(world)
    request_quotas(world, PATHS["berlin"], {"cores": 45})
    before = all_rows(world.engine)
    result = act(world, "berlin", id_, "confirm", "berlin-admin")
    assert (result.status_code, result.text) == (
        422,
        "cannot ask for compute/cores quota: 40 is not more than it has now, which is 45; lowering needs no request: set"
        " the quota\n",
    )
    assert changes(before, all_rows(world.engine)) == {}
    request_quotas(world, PATHS["berlin"], {"cores": 30})
    resources = act(world, "berlin", id_, "confirm", "berlin-admin").json["quota_request"]["resources"]
    assert [(each["present_quota"], each["wanted_quota"]) for each in resources] == [(30, 40)]


def test_a_rule_approves_what_is_confirmed(make: Callable[..., World]) -> None:
    rule = AutoApprovalRule(name="small", resource=re.compile("compute/cores"), up_to=50)
    world = make(notify_sinks=("log",), auto_approval=[rule])
    id_ = proposed(world)
    assert (status(world, "berlin", id_), quota(world)) == ("proposed", 20)
    result = act(world, "berlin", id_, "confirm", "berlin-admin")
    assert (result.json["quota_request"]["status"], quota(world)) == ("approved", 40)
    assert world.pushed == [(1, ("compute",))]
    assert [kind for kind, *_ in steps(world)] == ["request_proposed", "request_decided"]


@pytest.mark.sql
def test_who_is_told(make: Callable[..., World]) -> None:
    world = make(notify_sinks=("log",))
    id_ = proposed(world)
    act(world, "berlin", id_, "confirm", "berlin-admin", comment="we need it")
    act(world, "berlin", id_, "reject", "germany-admin", reason="no")
    assert steps(world) == [
        ("request_proposed", id_, "proposed", "project"),
        ("request_confirmed", id_, "open", "project"),
        ("request_opened", id_, "open", "project"),
        ("request_decided", id_, "rejected", "project"),
    ]
    confirmed = told(world)[1]["request"]
    assert (confirmed["requester"]["id"], confirmed["decided_by"]["id"]) == ("u7", "u6")
    assert confirmed["comment"] == "we need it"
    assert mails(world)[:4] == [
        f"Proposed quota request {id_} of project berlin",
        f"Vorgeschlagener Quota-Antrag {id_} des Projekts berlin",
        f"Your quota request {id_} was confirmed",
        f"Ihr Quota-Antrag {id_} wurde bestätigt",
    ]


def test_who_has_proposed_is_told_that_it_ended(make: Callable[..., World]) -> None:
    world = make(notify_sinks=("log",))
    first = proposed(world)
    act(world, "berlin", first, "withdraw", "berlin-member")
    assert [kind for kind, *_ in steps(world)] == ["request_proposed"], "not of what they do themselves"
    second = proposed(world)
    replacing = asked(world, "berlin", compute={"cores": 50})
    third = proposed(world, compute={"ram": 2048})
    act(world, "berlin", third, "withdraw", "berlin-admin", comment="not now")
    decided = [each["request"] for each in told(world) if each["kind"] == "request_decided"]
    assert [(each["id"], each["status"], each["comment"], each["decided_by"]["id"]) for each in decided] == [
        (second, "superseded", f"replaced by quota request {replacing}", "u6"),
        (third, "withdrawn", "not now", "u6"),
    ]
    assert f"Your quota request {second} was replaced" in mails(world)
    assert f"Ihr Quota-Antrag {third} wurde zurückgezogen" in mails(world)


@pytest.mark.sql
def test_it_waits_for_a_decision_from_its_confirmation_on(make: Callable[..., World]) -> None:
    world = make(notify_sinks=("log",))
    job = notifier(world)
    job()
    id_ = proposed(world)
    world.clock.advance(60 * DAY)
    assert world.expire() == 0
    job()
    act(world, "berlin", id_, "confirm", "berlin-admin")
    world.clock.advance(2 * DAY)
    job()
    assert "request_waiting" not in [each["kind"] for each in told(world)]
    world.clock.advance(60 * DAY)
    job()
    assert "request_waiting" in [each["kind"] for each in told(world)]
    assert (world.expire(), status(world, "berlin", id_)) == (0, "open")
    world.clock.advance(30 * DAY)
    assert (world.expire(), status(world, "berlin", id_)) == (1, "expired")


@pytest.mark.sql
def test_proposals_expire(world: World) -> None:
    old = proposed(world, compute={"ram": 2048})
    wanted = {"services": services(compute={"cores": 40}), "reason": "sale", "until": START + 5 * DAY}
    made = world.request("POST", f"{PATHS['berlin']}/quota-requests", "berlin-member", json={"quota_request": wanted})
    short = made.json["quota_request"]["id"]
    world.clock.advance(6 * DAY)
    result = act(world, "berlin", short, "confirm", "berlin-admin")
    assert (result.status_code, result.text) == (409, f"quota request {short} is expired, not proposed\n")
    assert (world.expire(), status(world, "berlin", short)) == (1, "expired")
    world.clock.advance(90 * DAY)
    assert (world.expire(), status(world, "berlin", old)) == (1, "expired")


def test_each_step_is_audited(make: Callable[..., World]) -> None:
    world = make(sinks=("test",))
    id_ = proposed(world)
    act(world, "berlin", id_, "confirm", "berlin-admin")
    rows = world.engine.rows("SELECT document FROM audit_outbox ORDER BY number")
    events = [json.loads(row[0]) for row in rows]
    assert [(event["action"], event["target"]["id"], event["initiator"]["id"]) for event in events] == [
        ("create", str(id_), "u7"),
        ("update", str(id_), "u6"),
    ]
    targets = [event["target"] for event in events]
    assert [json.loads(each["attachments"][0]["content"])["event"] for each in targets] == ["proposed", "confirmed"]
