"""What people are told of requests for quota: those who decide, and the one who asked."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from limes.notifications.mail.templates import MailContext, Templates, sample
from limes.requests.rules import AutoApprovalRule
from tests.api.world import BERLIN, GERMANY, World
from tests.notifications.test_notifications import notifier, told
from tests.quota.temporary import START
from tests.requests.quota_requests import PATHS, act, ask, asked, services

DAY = 86400


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    """One that tells."""
    return make(notify_sinks=("log",))


def steps(world: World) -> list[tuple[str, int, str, str]]:
    """Kind, number, status and level of all that was told."""
    return [(each["kind"], each["request"]["id"], each["request"]["status"], each["level"]) for each in told(world)]


def mails(world: World) -> list[str]:
    """The subjects that all these notifications get as mails."""
    templates = Templates()
    return [
        templates.render(each["kind"], language, [each], MailContext(), strict=True).subject
        for each in told(world)
        for language in ("en", "de")
    ]


def test_a_request_and_its_approval(cloud: World) -> None:
    id_ = asked(cloud, "berlin", compute={"cores": 40, "ram": (2, "GiB")})
    act(cloud, "berlin", id_, "comments", "berlin-admin", comment="please")
    lower = [{"type": "compute", "resources": [{"name": "cores", "quota": 25}]}]
    act(cloud, "berlin", id_, "approve", "germany-admin", services=lower, comment="half")
    opened, decided = told(cloud)
    assert opened == {
        "id": opened["id"],
        "kind": "request_opened",
        "at": opened["at"],
        "remedy": "Approve or reject it, or pass it on.",
        "level": "project",
        "domain": {"id": GERMANY, "name": "germany"},
        "project": {"id": BERLIN, "name": "berlin"},
        "request": {
            "id": id_,
            "status": "open",
            "reason": "launch",
            "requester": {"id": "u6", "name": ""},
            "passed_on_from": None,
            "resources": [
                {"service": "compute", "resource": "cores", "unit": None, "present": 20, "wanted": 40, "granted": None},
                {
                    "service": "compute",
                    "resource": "ram",
                    "unit": "MiB",
                    "present": 1024,
                    "wanted": 2048,
                    "granted": None,
                },
            ],
        },
    }
    assert decided["kind"] == "request_decided"
    request = decided["request"]
    assert (request["status"], request["comment"], request["decided_by"]["id"]) == ("partly_approved", "half", "u3")
    assert [each["granted"] for each in request["resources"]] == [25, 2048]
    assert mails(cloud) == [
        f"Quota request {id_} of project berlin",
        f"Quota-Antrag {id_} des Projekts berlin",
        f"Your quota request {id_} was approved in part",
        f"Ihr Quota-Antrag {id_} wurde teilweise genehmigt",
    ]


def test_a_rejection_and_a_withdrawal(cloud: World) -> None:
    first = asked(cloud, "berlin", compute={"cores": 40})
    act(cloud, "berlin", first, "reject", "germany-admin", reason="no <b>way</b>")
    second = asked(cloud, "berlin", compute={"cores": 40})
    act(cloud, "berlin", second, "withdraw", "berlin-admin")
    assert steps(cloud) == [
        ("request_opened", first, "open", "project"),
        ("request_decided", first, "rejected", "project"),
        ("request_opened", second, "open", "project"),
    ]
    assert told(cloud)[1]["request"]["comment"] == "no <b>way</b>"


def test_quota_for_a_time(cloud: World) -> None:
    wanted = {
        "services": services(compute={"cores": 40}),
        "reason": "sale",
        "from": START + DAY,
        "until": START + 5 * DAY,
    }
    made = cloud.request("POST", f"{PATHS['berlin']}/quota-requests", "berlin-admin", json={"quota_request": wanted})
    act(cloud, "berlin", made.json["quota_request"]["id"], "approve", "germany-admin")
    opened, decided = told(cloud)
    for each in (opened, decided):
        assert (each["request"]["from"], each["request"]["until"]) == (START + DAY, START + 5 * DAY)
    texts = [
        Templates().render(each["kind"], language, [each], MailContext(), strict=True).text
        for each in (opened, decided)
        for language in ("en", "de")
    ]
    times = "2026-01-02 00:00 UTC", "2026-01-06 00:00 UTC"
    for text, words in zip(
        texts,
        ("Wanted from {} until {};", "Gewünscht vom {} bis zum {};", "Granted from", "Genehmigt vom"),
        strict=True,
    ):
        assert words.format(*times) in text


def test_passed_on_and_approved_above(cloud: World) -> None:
    id_ = asked(cloud, "berlin", compute={"cores": 90})
    made = act(cloud, "berlin", id_, "pass-on", "germany-admin", comment="a new customer")
    above = made.json["quota_request"]["id"]
    act(cloud, "germany", above, "approve", "cloud-admin")
    assert steps(cloud) == [
        ("request_opened", id_, "open", "project"),
        ("request_passed_on", id_, "open", "project"),
        ("request_opened", above, "open", "domain"),
        ("request_decided", above, "approved", "domain"),
        ("request_decided", id_, "approved", "project"),
    ]
    passed_on, opened_above = told(cloud)[1:3]
    assert (passed_on["request"]["passed_on_to"], passed_on["request"]["comment"]) == (above, "a new customer")
    assert (opened_above["request"]["passed_on_from"], opened_above["request"]["requester"]["id"]) == (id_, "u3")
    assert "project" not in opened_above
    assert len(mails(cloud)) == 10


def test_what_a_rule_approves_at_once_is_not_asked_about(make: Callable[..., World]) -> None:
    rule = AutoApprovalRule(name="small", resource=re.compile("compute/cores"), up_to=50)
    cloud = make(notify_sinks=("log",), auto_approval=[rule])
    id_ = asked(cloud, "berlin", compute={"cores": 40})
    assert steps(cloud) == [("request_decided", id_, "approved", "project")]
    assert told(cloud)[0]["request"]["comment"] == "approved compute/cores by rule small"


def test_a_refused_decision_tells_nothing(cloud: World) -> None:
    id_ = asked(cloud, "berlin", compute={"cores": 90})
    assert act(cloud, "berlin", id_, "approve", "germany-admin").status_code == 409
    assert ask(cloud, "berlin", compute={"cores": 1}).status_code == 422
    assert len(told(cloud)) == 1


@pytest.mark.sql
def test_two_decisions_at_once_tell_of_one(cloud: World) -> None:
    id_ = asked(cloud, "berlin", compute={"cores": 40})
    with ThreadPoolExecutor(2) as pool:
        approval = pool.submit(act, cloud, "berlin", id_, "approve", "germany-admin")
        rejection = pool.submit(act, cloud, "berlin", id_, "reject", "germany-admin", reason="no")
    assert sorted(each.result().status_code for each in (approval, rejection)) == [200, 409]
    assert [kind for kind, *_ in steps(cloud)] == ["request_opened", "request_decided"]


@pytest.mark.sql
def test_who_decides_is_reminded_once(cloud: World) -> None:
    job = notifier(cloud)
    job()
    before = len(told(cloud))
    id_ = asked(cloud, "berlin", compute={"cores": 40})
    cloud.clock.advance(3 * DAY - 60)
    job()
    assert len(told(cloud)) == before + 1
    cloud.clock.advance(120)
    for _ in range(2):
        job()
    (reminder,) = [each for each in told(cloud) if each["kind"] == "request_waiting"]
    assert (reminder["request"]["id"], reminder["days"], reminder["project"]["name"]) == (id_, 3, "berlin")
    assert {*sample("request_waiting"), "remedy"} == set(reminder)
    assert f"Quota request {id_} of project berlin has been waiting for 3 days" in mails(cloud)


def test_nobody_is_reminded_of_what_was_decided_or_passed_on(cloud: World) -> None:
    job = notifier(cloud, request_waiting=DAY)
    decided = asked(cloud, "dresden", "dresden-admin", compute={"cores": 40})
    act(cloud, "dresden", decided, "approve", "germany-admin")
    passed_on = asked(cloud, "berlin", compute={"cores": 90})
    made = act(cloud, "berlin", passed_on, "pass-on", "germany-admin")
    above = made.json["quota_request"]["id"]
    cloud.clock.advance(2 * DAY)
    job()
    assert [each["request"]["id"] for each in told(cloud) if each["kind"] == "request_waiting"] == [above]
    act(cloud, "germany", above, "reject", "cloud-admin", reason="no")
    job()
    waiting = [each["request"]["id"] for each in told(cloud) if each["kind"] == "request_waiting"]
    assert waiting == [above, passed_on], "it waits in the domain again"


def test_kinds_that_nobody_wants(cloud: World) -> None:
    job = notifier(cloud, request_waiting=DAY, except_kinds=frozenset({"request_waiting"}))
    asked(cloud, "berlin", compute={"cores": 40})
    cloud.clock.advance(2 * DAY)
    job()
    assert "request_waiting" not in [each["kind"] for each in told(cloud)]
