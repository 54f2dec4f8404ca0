"""Notifications as mail: one mail a day, servers that refuse and fail, crashes, the mail API and metrics."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token
from msgspec import structs

from limes.kernel.outgoing import TimedAdapter
from limes.notifications.mail.mailer import Mail, MailResult
from limes.notifications.mail.servers import MailApi, SmtpSession
from limes.notifications.mail.templates import KINDS, MailContext, Templates, sample
from limes.notifications.metrics import MailCounters, mail_gauges
from limes.notifications.recipients import Recipients
from limes.notifications.rules import REQUEST_KINDS
from limes.notifications.send_mails import MailRound
from limes.notifications.settings import MailSettings
from tests.api.world import BERLIN, World
from tests.commitments.commitments import BEHAVIORS, NOW, PATHS, commit
from tests.notifications.post import ALICE, BOB, DAY, Post, post, recipients, server
from tests.notifications.test_notifications import Receiver, notifier, receiver, told
from tests.support.limes import with_values
from tests.support.mail_server import text_of
from tests.support.statements import count_statements

__all__ = ["post", "receiver", "server"]


@pytest.mark.sql
def test_one_mail_a_day_for_each_kind(post: Post) -> None:
    for usage in (900, 950):
        post.notify("quota_used", usage=usage)
    assert post.send() == MailRound(sent=1)
    assert post.subjects == [(ALICE, "2 quotas are nearly used up")]
    assert [figure in text_of(post.server.received[0][1]) for figure in ("900 MiB", "950 MiB", "berlin")] == [True] * 3
    post.notify("quota_used", usage=960)
    post.notify("commitment_expires")
    assert post.send() == MailRound(sent=1), "another kind has a mail of its own"
    assert post.send() == MailRound()
    post.notify("quota_used", usage=970)
    assert post.send(DAY) == MailRound(sent=1)
    assert post.subjects[2:] == [(ALICE, "2 quotas are nearly used up")]
    assert post.send(DAY) == MailRound(), "nothing new, no mail"
    assert len(set(post.server.ids())) == 3


def test_what_comes_together_is_sent_together(post: Post) -> None:
    post.notify("quota_used")
    assert post.send(30) == MailRound(), "more may follow"
    post.notify("quota_used")
    assert post.send(60) == MailRound(sent=1)
    assert post.subjects == [(ALICE, "2 quotas are nearly used up")]


def test_urgent_kinds_do_not_wait(post: Post) -> None:
    post.recipients = recipients(ALICE, kinds=("request_opened",))
    for number in (1, 2):
        post.notify("request_opened", request={**sample("request_opened")["request"], "id": number})
        assert post.send(50) == MailRound(sent=1)
    assert [subject for _, subject in post.subjects] == [f"Quota request {n} of project berlin" for n in (1, 2)]


def test_many_urgent_ones_are_one_mail_a_minute(post: Post) -> None:
    """The job runs every five seconds, and a tenant may make many requests in that time."""
    post.recipients = recipients(ALICE, kinds=("request_opened",))
    sent = []
    for number in range(24):  # ten seconds each
        post.notify("request_opened", request={**sample("request_opened")["request"], "id": number})
        sent.append(post.send(0).sent)
    assert sent == [1, 0, 0, 0, 0, 0] * 4
    assert [subject for _, subject in post.subjects] == ["Quota request 0 of project berlin"] + [
        "6 quota requests wait for a decision"
    ] * 3


def test_without_digest_each_is_sent(post: Post) -> None:
    for _ in range(3):
        post.notify("quota_used")
        assert post.send(digest=0) == MailRound(sent=1)


def test_a_clock_that_was_wrong_delays_nothing_for_long(post: Post) -> None:
    post.notify("quota_used")
    assert post.send() == MailRound(sent=1)
    post.world.engine.execute("UPDATE mails SET made_at = made_at + 31536000")
    post.notify("quota_used")
    post.world.engine.execute("UPDATE mail_items SET due_at = due_at + 31536000 WHERE mail_id IS NULL")
    assert post.send() == MailRound(sent=1)


@pytest.mark.sql
def test_a_notification_that_is_delivered_twice_is_queued_once(post: Post) -> None:
    post.notify("quota_used")
    post.world.engine.execute("UPDATE audit_outbox SET delivered_at = NULL")  # a collector died before it noted it
    assert post.deliver().delivered == 1
    assert post.send() == MailRound(sent=1)
    assert post.subjects == [(ALICE, "berlin: 80 % of compute/ram used")]


@pytest.mark.sql
def test_the_queries_do_not_grow_with_the_notifications(post: Post) -> None:
    counts = []
    for number in (1, 40):
        for _ in range(number):
            post.append("quota_used")
        counts.append(count_statements(post.world.engine, post.deliver))
        counts.append(count_statements(post.world.engine, lambda: post.send(DAY)))
    assert counts[:2] == counts[2:]


# -- servers that refuse, fail and hang --------------------------------------------------------------------------------


def test_a_recipient_that_is_refused_for_good_is_dropped(post: Post, caplog: pytest.LogCaptureFixture) -> None:
    post.recipients = recipients(BOB, ALICE)
    post.server.recipients[BOB] = "550 5.1.1 no such user"
    post.notify("quota_used")
    assert post.send() == MailRound(sent=1, dropped=1)
    assert post.send() == MailRound()
    assert "to bob@example.com is dropped: 550 5.1.1 no such user" in caplog.text


def test_a_recipient_that_is_refused_for_now_is_tried_again(post: Post, caplog: pytest.LogCaptureFixture) -> None:
    post.server.recipients[ALICE] = "450 greylisted"
    post.notify("quota_used")
    assert post.send() == MailRound(retried=1)
    assert post.send(5) == MailRound(), "not before the pause is over"
    assert post.send(10) == MailRound(retried=1)
    assert post.send(4 * DAY) == MailRound(retried=1)
    del post.server.recipients[ALICE]
    assert post.send() == MailRound(sent=1)
    post.notify("commitment_expires")
    post.server.recipients[ALICE] = "450 greylisted"
    assert post.send() == MailRound(retried=1)
    assert post.send(6 * DAY) == MailRound(dropped=1)
    assert "is dropped: 450 greylisted" in caplog.text


def test_a_server_that_is_away_and_comes_back(post: Post, caplog: pytest.LogCaptureFixture) -> None:
    post.notify("quota_used")
    post.server.stop()
    outcome = post.send()
    assert outcome.error is not None
    assert "refused" in outcome.error
    assert "mails wait for the sink smtp: 127.0.0.1" in caplog.text
    post.server.start()
    assert post.send(20) == MailRound(sent=1)


def test_a_repetition_has_the_same_id_and_contents(post: Post) -> None:
    post.notify("quota_used")
    post.server.data = "421 closing"
    assert post.send().error is not None
    post.notify("quota_used")
    post.server.data = "250 OK"
    assert post.send() == MailRound(sent=1)
    (_, first), (_, again) = post.server.received
    assert first.as_bytes() == again.as_bytes()


def test_a_mail_that_breaks_the_server_does_not_stop_others(post: Post) -> None:
    post.recipients = recipients(BOB, ALICE)
    post.server.recipients[BOB] = "421 go away"
    post.notify("quota_used")
    for _ in range(3):
        if post.send().sent:
            break
    assert [recipient for recipient, _ in post.subjects] == [ALICE]


class Killed(BaseException):
    """Ends a run anywhere."""


@pytest.mark.sql
def test_a_collector_that_dies_after_sending(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    post.notify("quota_used")
    job = post.job()
    post.world.clock.advance(61)
    send = SmtpSession.send

    def send_and_die(session: SmtpSession, mail: Mail) -> MailResult:
        send(session, mail)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(SmtpSession, "send", send_and_die)
        with pytest.raises(Killed):
            job.run_if_due()
    assert job.run_if_due() is None, "the dead one still has the lease"
    assert post.send(400) == MailRound(sent=1)
    assert len(post.server.ids()) == 2
    assert len(set(post.server.ids())) == 1


@pytest.mark.sql
def test_two_collectors_make_one_mail(post: Post) -> None:
    for _ in range(20):
        post.append("quota_used")
    post.deliver()
    post.world.clock.advance(61)
    job = post.job()
    with ThreadPoolExecutor(4) as pool:
        outcomes = pool.map(lambda _: job.run_if_due(), range(4))
    assert [outcome for outcome in outcomes if outcome is not None] == [MailRound(sent=1)]
    assert post.subjects == [(ALICE, "20 quotas are nearly used up")]


@pytest.mark.sql
def test_who_has_lost_its_claim_makes_no_mails(post: Post) -> None:
    post.notify("quota_used")
    post.world.clock.advance(61)
    job = post.job()
    assert post.world.engine.atomic(lambda: job._make(1.0)) == 0
    assert post.world.engine.rows("SELECT id FROM mails") == []


@pytest.mark.sql
def test_old_mails_are_forgotten(post: Post) -> None:
    post.notify("quota_used")
    post.send()
    assert post.send(8 * DAY) == MailRound()
    engine = post.world.engine
    assert engine.rows("SELECT id FROM mails") + engine.rows("SELECT number FROM mail_items") == []


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_limes_makes_can_be_a_mail(make: Callable[..., World], language: str) -> None:
    world = make(behaviors=BEHAVIORS)
    world.run("UPDATE project_resources SET usage = 0")
    job = notifier(world)
    job()
    made = commit(world, duration="1 year", confirm_by=NOW + DAY)
    world.clock.advance(2 * DAY)
    commit(world, duration="1 year", amount=1)  # which settles the resource
    job()
    world.run("UPDATE project_commitments SET auto_renews = %s, expires_at = %s", [True, NOW + 20 * DAY])
    assert world.request("POST", f"{PATHS['berlin']}/commitments/{made['id']}/renew").status_code < 300
    ends = commit(world, duration="1 year", amount=1)["id"]
    end = "UPDATE project_commitments SET created_at = 1, confirmed_at = 1, expires_at = %s WHERE id = %s"
    world.run(end, [NOW + 20 * DAY, ends])
    waits = commit(world, duration="1 year", amount=1, confirm_by=NOW + 9 * DAY)["id"]
    pending = "UPDATE project_commitments SET confirm_by = %s, status = 'pending' WHERE id = %s"
    world.run(pending, [NOW - DAY, waits])
    world.run("UPDATE project_services SET scrape_error = 'no', failing_since = 1")
    world.run("UPDATE project_resources SET usage = 900 WHERE quota = 1024")
    world.run("UPDATE resources SET capacity_drop_seen_at = 1, capacitor_id = 1")
    job()
    world.run(
        "UPDATE project_commitments SET auto_renews = %s, renewal_error = 'no capacity' WHERE id = %s", [True, ends]
    )
    world.run("UPDATE project_resources SET usage = 1100 WHERE quota = 1024")
    job()
    documents = told(world)
    for document in documents:
        mail = Templates().render(document["kind"], language, [document], MailContext(), strict=True)
        assert "None" not in mail.subject + mail.text + mail.html, mail.text
    others = {kind for kind in KINDS if kind.startswith("temporary_")} | REQUEST_KINDS | {"own_threshold"}
    assert {each["kind"] for each in documents} == set(KINDS) - others


# -- the mail API, and metrics -----------------------------------------------------------------------------------------


def test_the_mail_api_gets_one_mail_for_each_project(post: Post, receiver: Receiver) -> None:
    post.recipients = Recipients(MailSettings(language="de"), by_project=True)
    post.notify("quota_used")
    post.notify("quota_used")
    post.notify("backend_unreachable")
    adapter = TimedAdapter(Session(Token(None, "our-token")), 20, endpoint_override=receiver.url)
    receiver.status = 503
    job = structs.replace(post.job(), mailer=MailApi(adapter))
    post.world.clock.advance(61)
    outcome = job.run_if_due()
    assert outcome is not None
    assert (outcome.sent, outcome.error) == (0, "HTTP 503")
    receiver.status = 200
    post.world.clock.advance(61)
    assert job.run_if_due() == MailRound(sent=1)
    (first, body), (again, same) = receiver.got
    assert body == same
    assert first["Limes-Message-Id"] == again["Limes-Message-Id"]
    document = json.loads(body)
    assert (document["project_id"], document["subject"]) == (BERLIN, "2 Quotas sind fast ausgeschöpft")
    assert "unsubscribe" not in document["mail_text"]


def test_metrics(post: Post) -> None:
    limes = post.world.limes
    settings = with_values(limes.settings, {"notifications.sinks": ("smtp",)})
    counters, gauges = MailCounters(["smtp"]), mail_gauges(structs.replace(limes, settings=settings))
    post.recipients = recipients(ALICE, BOB, "carol@example.com")
    post.server.recipients |= {ALICE: "450 greylisted", BOB: "550 no such user"}
    post.notify("quota_used")
    counters.count("smtp", post.send())
    assert figures(counters) == {"sent": 1, "dropped": 1, "retried": 1, "unreachable": 0}
    post.world.clock.advance(30)
    assert [(family.name, family.samples[0].value) for family in gauges.collect()] == [
        ("limes_mails_waiting", 1),
        ("limes_mails_age_seconds", 30),
    ]
    post.server.stop()
    counters.count("smtp", post.send())
    assert figures(counters)["unreachable"] == 1
    post.server.start()
    post.server.recipients.clear()
    counters.count("smtp", post.send())
    assert figures(counters)["sent"] == 2
    assert [family.samples[0].value for family in gauges.collect()] == [0, 0]


def figures(counters: MailCounters) -> dict[str, float]:
    (family,) = counters.collect()
    return {sample.labels["outcome"]: sample.value for sample in family.samples}
