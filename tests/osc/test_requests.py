"""Requests for more quota: asking, finding, deciding."""

import time

import pytest

from limes.requests.queries import EventRow, add_events
from tests.api.world import BERLIN, GERMANY
from tests.osc.client import User
from tests.osc.conftest import Cloud

ASK = "request create --set compute/cores=40 --reason launch"
_TODAY = int(time.time()) // 86400 * 86400
FIRST, LAST, LATER = (time.strftime("%Y-%m-%d", time.gmtime(_TODAY + days * 86400)) for days in (10, 20, 30))


def test_create_and_show(cloud: Cloud, berlin: User) -> None:
    made = berlin.json(ASK)
    number = made.pop("id")
    assert (made["status"], made["project"], made["reason"]) == ("open", "berlin", "launch")
    [wanted] = made["wanted"]
    assert (wanted["present_quota"], wanted["wanted_quota"]) == (20, 40)
    assert berlin.json(f"request show {number}")["created_at"] == made["created_at"]
    table = berlin.must(f"request show {number}")
    assert "compute/cores: 20 -> 40" in table
    assert "opened" in table


def test_changes_of_the_present_quota(cloud: Cloud, berlin: User) -> None:
    made = berlin.json("request create --set compute/cores=+5 --set compute/ram=+1GiB --reason launch")
    assert [entry["wanted_quota"] for entry in made["wanted"]] == [25, 2048]


def test_quota_for_a_time(cloud: Cloud, berlin: User, germany: User) -> None:
    number = berlin.json(f"{ASK} --until {LAST}")["id"]
    shown = berlin.json(f"request show {number}")
    assert (shown["from"], shown["until"]) == (None, f"{LAST}T00:00:00Z")
    assert LAST in berlin.must("request list")
    germany.must(f"request approve {number}")
    [cores] = berlin.json("project show --resource compute/cores")
    assert (cores["quota"], cores["temporary"]["quota_before"]) == (40, 20)
    assert cores["temporary"]["until"] == _TODAY + 20 * 86400


def test_quota_for_a_time_that_is_to_come(cloud: Cloud, berlin: User, germany: User) -> None:
    made = berlin.json(f"{ASK} --from {FIRST} --until {LAST}")
    assert (made["from"], made["until"]) == (f"{FIRST}T00:00:00Z", f"{LAST}T00:00:00Z")
    germany.must(f"request approve {made['id']}")
    [cores] = berlin.json("project show --resource compute/cores")
    assert (cores["quota"], cores["temporary"]["state"]) == (20, "planned")


def test_changes_are_about_the_quota_after_one_for_a_time(cloud: Cloud, berlin: User, germany: User) -> None:
    germany.must(f"project set berlin --set compute/cores=50 --until {LAST}")
    made = berlin.json("request create --set compute/cores=+10 --reason launch")
    assert [(each["present_quota"], each["wanted_quota"]) for each in made["wanted"]] == [(20, 30)]
    germany.must(f"request approve {made['id']} --set compute/cores=+5")
    [cores] = berlin.json("project show --resource compute/cores")
    assert (cores["quota"], cores["temporary"]["quota_before"]) == (50, 25)
    longer = berlin.json(f"request create --set compute/cores=50 --until {LATER} --reason longer")
    germany.must(f"request approve {longer['id']}")
    [cores] = berlin.json("project show --resource compute/cores")
    assert cores["temporary"]["until"] == _TODAY + 30 * 86400


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("--until yesterday", "'yesterday' is not a time"),
        ("--until 2020-01-01", "until is in the past"),
        (f"--from {FIRST}", "from goes with until"),
        (f"--from {LAST} --until {FIRST}", "until has to be after from"),
    ],
)
def test_times_that_make_no_sense(cloud: Cloud, berlin: User, options: str, problem: str) -> None:
    assert problem in berlin.refused(f"{ASK} {options}")
    assert berlin.json("request list") == []


def test_lists(cloud: Cloud, berlin: User, germany: User, admin: User) -> None:
    number = berlin.json(ASK)["id"]
    of_domain = germany.json("request create --of-domain --set compute/cores=150 --reason more")["id"]
    assert [row["id"] for row in berlin.json("request list")] == [number]
    assert [row["id"] for row in germany.json("request list")] == [of_domain, number]
    assert [row["id"] for row in admin.json("request list --all-domains --level domain")] == [of_domain]
    assert germany.json("request list --status rejected") == []
    assert [row["id"] for row in germany.json(f"request list --project {BERLIN}")] == [number]
    assert [row["id"] for row in admin.json(f"request list --domain {GERMANY}")] == [of_domain, number]


def test_decisions_need_only_the_number(cloud: Cloud, berlin: User, germany: User) -> None:
    number = berlin.json(ASK)["id"]
    germany.must(f"request comment {number} 'what for?'")
    done = germany.json(f"request approve {number} --set compute/cores=30 --comment half")
    assert (done["status"], done["wanted"][0]["granted_quota"]) == ("partly_approved", 30)
    assert [event["kind"] for event in done["conversation"]] == ["opened", "comment", "partly_approved"]
    assert "compute/cores: 20 -> 40 (granted: 30)" in berlin.must(f"request show {number}")
    again = germany.run(f"request reject {number} --reason no")
    assert again.status == 1
    assert f"quota request {number} is partly approved, not open" in again.errors


def test_a_long_conversation_is_shown_as_a_whole(cloud: Cloud, berlin: User) -> None:
    number = berlin.json(ASK)["id"]
    rows = [EventRow(number, 1000.0, "comment", f"comment {count}", "u6", "") for count in range(150)]
    cloud.engine.atomic(lambda: add_events(cloud.engine, rows))
    shown = berlin.json(f"request show {number}")["conversation"]
    assert [event["text"] for event in shown] == ["", *(row.text for row in rows)]
    after = berlin.json(f"request comment {number} 'the last one'")["conversation"]
    assert [event["text"] for event in after] == [*(event["text"] for event in shown), "the last one"]


def test_pass_on(cloud: Cloud, berlin: User, germany: User, admin: User) -> None:
    number = berlin.json("request create --set compute/cores=90 --reason launch")["id"]
    above = germany.json(f"request pass-on {number}")
    assert (above["passed_on_from"], above["project"]) == (number, None)
    assert admin.json(f"request approve {above['id']}")["status"] == "approved"
    assert berlin.json(f"request show {number}")["status"] == "approved"


def test_what_a_member_proposes(cloud: Cloud, member: User, berlin: User, germany: User) -> None:
    number = member.json(ASK)["id"]
    assert [each["id"] for each in berlin.json("request list --status proposed")] == [number]
    assert member.run(f"request confirm {number}").status == 1
    confirmed = berlin.json(f"request confirm {number} --comment 'we need it'")
    assert (confirmed["status"], confirmed["conversation"][-1]["kind"]) == ("open", "confirmed")
    assert germany.json(f"request approve {number}")["status"] == "approved"
    other = member.json("request create --set compute/ram=2GiB --reason launch")["id"]
    assert member.json(f"request withdraw {other}")["status"] == "withdrawn"


def test_withdraw_and_reject(cloud: Cloud, berlin: User, germany: User) -> None:
    assert berlin.json(f"request withdraw {berlin.json(ASK)['id']}")["status"] == "withdrawn"
    assert germany.json(f"request reject {berlin.json(ASK)['id']} --reason no")["status"] == "rejected"


def test_what_does_not_fit(cloud: Cloud, berlin: User, germany: User) -> None:
    number = berlin.json("request create --set compute/cores=90 --reason launch")["id"]
    refused = germany.run(f"request approve {number}")
    assert refused.status == 1
    assert "maximum acceptable project quota is 70" in refused.errors
