"""Notifications as mail: who gets them, one mail a day, refusals, crashes, and who has unsubscribed."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token

from limes.actions.deliver_events import DeliverEvents
from limes.actions.mails.queue_mails import Languages, ProjectItself, QueueMails, Recipients
from limes.actions.mails.send_mails import Contents, SendMails, Sent
from limes.core.recipients import REQUEST_KINDS, LanguageRule, Level, RecipientRule
from limes.db.queries import mails as queries
from limes.db.queries import outbox
from limes.errors import Unavailable
from limes.mail.mail_api import MailApi
from limes.mail.mailer import Mail, Outcome
from limes.mail.samples import KINDS, sample
from limes.mail.smtp import Sender, SmtpMailer, SmtpServer
from limes.mail.templates import Around, Templates
from limes.mail.unsubscribe import Subscription
from limes.metrics.mails import MailCounters, MailGauges
from limes.outgoing import TimedAdapter
from limes.system import SystemIds
from tests.api.commitments import BEHAVIORS, NOW, PATHS, commit
from tests.api.test_attention import run
from tests.api.test_notifications import NoJitter, Receiver, notify, receiver, told
from tests.api.world import BERLIN, GERMANY, UNSUBSCRIBE_LINKS, World
from tests.support.mail_server import MailServer, text_of
from tests.support.statements import count_statements

__all__ = ["receiver"]

DAY = 86400
ALICE, BOB = "alice@example.com", "bob@example.com"


@pytest.fixture
def server() -> Iterator[MailServer]:
    server = MailServer().start()
    yield server
    server.stop()


@dataclass
class Post:
    """The way of a notification to a mail."""

    world: World
    server: MailServer
    recipients: Recipients | ProjectItself
    queued: int = 0

    def notify(self, kind: str, **changes: Any) -> None:
        """Puts a notification into the outbox, and from there into the queue."""
        self.append(kind, **changes)
        assert not self.deliver().failed

    def append(self, kind: str, **changes: Any) -> None:
        document = {**sample(kind), "id": SystemIds().uuid(), **changes}
        place = {"domain": {"id": GERMANY}, "project": {"id": BERLIN}} if "project" in document else {}
        document = {**document, **place, **changes}
        now = self.world.clock.now().timestamp()
        row = (now, "notify:smtp", BERLIN if place else "compute", document["id"], json.dumps(document))
        self.world.engine.atomic(lambda: outbox.append(self.world.engine, [row]))

    def deliver(self) -> Any:
        sink = QueueMails(
            self.world.engine, self.world.clock, self.recipients, "notify:smtp", "smtp", 60, frozenset({"request_opened"})
        )  # fmt: skip
        self.world.clock.advance(10)
        outcome = DeliverEvents(
            self.world.engine, self.world.clock, NoJitter(), sink, what="notification", job="notify:smtp"
        ).run_if_due()
        assert outcome is not None
        return outcome

    def job(self, **options: Any) -> SendMails:
        mailer = SmtpMailer(SmtpServer("127.0.0.1", self.server.port, "none", timeout=20), Sender("limes@example.com"))
        contents = Contents(Templates(), "", UNSUBSCRIBE_LINKS)
        options = {"urgent": frozenset({"request_opened"}), **options}
        return SendMails(
            self.world.engine, self.world.clock, NoJitter(), SystemIds(), "smtp", mailer, contents, **options
        )

    def send(self, after: float = 61, **options: Any) -> Sent:
        self.world.clock.advance(after)
        outcome = self.job(**options).run_if_due()
        assert outcome is not None
        return outcome

    @property
    def subjects(self) -> list[tuple[str, str]]:
        """Recipient and subject of all mails so far."""
        return [(recipient, str(message["Subject"])) for recipient, message in self.server.received]


@pytest.fixture
def post(world: World, server: MailServer) -> Post:
    return Post(world, server, Recipients([RecipientRule([ALICE])]))


def test_one_mail_a_day_for_each_kind(post: Post) -> None:
    for usage in (900, 950):
        post.notify("quota_used", usage=usage)
    assert post.send() == Sent(sent=1)
    assert post.subjects == [(ALICE, "2 quotas are nearly used up")]
    assert [figure in text_of(post.server.received[0][1]) for figure in ("900 MiB", "950 MiB", "berlin")] == [True] * 3
    post.notify("quota_used", usage=960)
    post.notify("commitment_expires")
    assert post.send() == Sent(sent=1), "another kind has a mail of its own"
    assert post.send() == Sent()
    post.notify("quota_used", usage=970)
    assert post.send(DAY) == Sent(sent=1)
    assert post.subjects[2:] == [(ALICE, "2 quotas are nearly used up")]
    assert post.send(DAY) == Sent(), "nothing new, no mail"
    assert len(set(post.server.ids())) == 3


def test_what_comes_together_is_sent_together(post: Post) -> None:
    post.notify("quota_used")
    assert post.send(30) == Sent(), "more may follow"
    post.notify("quota_used")
    assert post.send(60) == Sent(sent=1)
    assert post.subjects == [(ALICE, "2 quotas are nearly used up")]


def test_urgent_kinds_do_not_wait(post: Post) -> None:
    post.recipients = Recipients([RecipientRule([ALICE], kinds=frozenset({"request_opened"}))])
    for number in (1, 2):
        post.notify("request_opened", request={**sample("request_opened")["request"], "id": number})
        assert post.send(10) == Sent(sent=1)
    assert [subject for _, subject in post.subjects] == [f"Quota request {n} of project berlin" for n in (1, 2)]


def test_without_digest_each_is_sent(post: Post) -> None:
    for _ in range(3):
        post.notify("quota_used")
        assert post.send(digest=0) == Sent(sent=1)


def test_a_clock_that_was_wrong_delays_nothing_for_long(post: Post) -> None:
    post.notify("quota_used")
    assert post.send() == Sent(sent=1)
    post.world.engine.execute("UPDATE mails SET made_at = made_at + 31536000")
    post.notify("quota_used")
    post.world.engine.execute("UPDATE mail_items SET due_at = due_at + 31536000 WHERE mail_id IS NULL")
    assert post.send() == Sent(sent=1)


# -- recipients --------------------------------------------------------------------------------------------------------


class Users:
    """Stands for Keystone."""

    def __init__(self) -> None:
        self.is_there = True

    def with_roles(self, scope: str, uuid: str, roles: Any) -> list[str]:
        if not self.is_there:
            raise Unavailable("Keystone does not answer")
        return [f"{role}@{scope}.example.com" for role in roles]

    def address_of(self, user_id: str) -> str | None:
        return f"{user_id}@example.com" if user_id != "nobody" else None


def users(*rules: RecipientRule, **options: Any) -> Recipients:
    return Recipients(rules, users=Users(), **options)  # type: ignore[arg-type]


def test_rules_say_who_gets_what(post: Post) -> None:
    post.recipients = users(
        RecipientRule(["ops@example.com"], levels=[Level.CLOUD]),
        RecipientRule(["germany@example.com"], domain=re.compile("germ.*")),
        RecipientRule(["france@example.com"], domain=re.compile("france")),
        RecipientRule(["berlin@example.com"], project=re.compile("berlin"), kinds=frozenset({"quota_used"})),
        RecipientRule(["Germany@example.com"], language="de"),
        RecipientRule(roles_on_project=["admin"], roles_on_domain=["owner"], kinds=frozenset({"commitment_expires"})),
    )
    post.notify("quota_used")
    post.notify("commitment_expires")
    post.notify("backend_unreachable")
    post.notify("request_opened")
    assert post.send() == Sent(sent=6 + 1)
    got = {(recipient, str(message["Limes-Kind"])) for recipient, message in post.server.received}
    assert got == {
        ("ops@example.com", "backend_unreachable"),
        ("Germany@example.com", "backend_unreachable"),
        ("germany@example.com", "quota_used"),
        ("germany@example.com", "commitment_expires"),
        ("berlin@example.com", "quota_used"),
        ("admin@project.example.com", "commitment_expires"),
        ("owner@domain.example.com", "commitment_expires"),
    }


def test_the_language_of_rules_and_domains(post: Post) -> None:
    languages = Languages("en", [LanguageRule(re.compile("germany"), "de")])
    post.recipients = Recipients([RecipientRule([ALICE]), RecipientRule([BOB], language="en")], languages)
    post.notify("quota_used")
    post.send()
    assert sorted(post.subjects) == [
        (ALICE, "berlin: 80 % von compute/ram sind belegt"),
        (BOB, "berlin: 80 % of compute/ram used"),
    ]
    assert {recipient: str(message["Content-Language"]) for recipient, message in post.server.received} == {
        ALICE: "de",
        BOB: "en",
    }


def test_who_asked_is_told_of_the_decision(post: Post) -> None:
    post.recipients = users(RecipientRule([ALICE]))
    request = sample("request_decided")["request"]
    for requester in ("carol", "nobody"):
        post.notify("request_decided", request={**request, "requester": {"id": requester, "name": requester}})
    assert post.send() == Sent(sent=1)
    assert post.subjects == [("carol@example.com", "Your quota request 12 was approved in part")]


def test_while_keystone_is_away_others_are_told(post: Post) -> None:
    post.recipients = users(
        RecipientRule(["ops@example.com"], levels=[Level.CLOUD]), RecipientRule(roles_on_project=["admin"])
    )
    post.recipients.users.is_there = False  # type: ignore[union-attr]
    post.append("quota_used")
    post.append("backend_unreachable")
    outcome = post.deliver()
    assert (outcome.delivered, outcome.refused, outcome.failed) == (1, 1, False)
    assert post.send() == Sent(sent=1)
    post.recipients.users.is_there = True  # type: ignore[union-attr]
    post.world.clock.advance(60)
    assert post.deliver().delivered == 1
    assert post.send() == Sent(sent=1)
    assert [recipient for recipient, _ in post.subjects] == ["ops@example.com", "admin@project.example.com"]


def test_a_notification_that_is_delivered_twice_is_queued_once(post: Post) -> None:
    post.notify("quota_used")
    post.world.engine.execute("UPDATE audit_outbox SET delivered_at = NULL")  # a collector died before it noted it
    assert post.deliver().delivered == 1
    assert post.send() == Sent(sent=1)
    assert post.subjects == [(ALICE, "berlin: 80 % of compute/ram used")]


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
    post.recipients = Recipients([RecipientRule([BOB, ALICE])])
    post.server.recipients[BOB] = "550 5.1.1 no such user"
    post.notify("quota_used")
    assert post.send() == Sent(sent=1, dropped=1)
    assert post.send() == Sent()
    assert "to bob@example.com is dropped: 550 5.1.1 no such user" in caplog.text


def test_a_recipient_that_is_refused_for_now_is_tried_again(post: Post, caplog: pytest.LogCaptureFixture) -> None:
    post.server.recipients[ALICE] = "450 greylisted"
    post.notify("quota_used")
    assert post.send() == Sent(retried=1)
    assert post.send(5) == Sent(), "not before the pause is over"
    assert post.send(10) == Sent(retried=1)
    assert post.send(4 * DAY) == Sent(retried=1)
    del post.server.recipients[ALICE]
    assert post.send() == Sent(sent=1)
    post.notify("commitment_expires")
    post.server.recipients[ALICE] = "450 greylisted"
    assert post.send() == Sent(retried=1)
    assert post.send(6 * DAY) == Sent(dropped=1)
    assert "is dropped: 450 greylisted" in caplog.text


def test_a_server_that_is_away_and_comes_back(post: Post, caplog: pytest.LogCaptureFixture) -> None:
    post.notify("quota_used")
    post.server.stop()
    outcome = post.send()
    assert outcome.error is not None
    assert "refused" in outcome.error
    assert "mails wait for the sink smtp: 127.0.0.1" in caplog.text
    post.server.start()
    assert post.send(20) == Sent(sent=1)


def test_a_repetition_has_the_same_id_and_contents(post: Post) -> None:
    post.notify("quota_used")
    post.server.data = "421 closing"
    assert post.send().error is not None
    post.notify("quota_used")
    post.server.data = "250 OK"
    assert post.send() == Sent(sent=1)
    (_, first), (_, again) = post.server.received
    assert first.as_bytes() == again.as_bytes()


def test_a_mail_that_breaks_the_server_does_not_stop_others(post: Post) -> None:
    post.recipients = Recipients([RecipientRule([BOB, ALICE])])
    post.server.recipients[BOB] = "421 go away"
    post.notify("quota_used")
    for _ in range(3):
        if post.send().sent:
            break
    assert [recipient for recipient, _ in post.subjects] == [ALICE]


class Killed(BaseException):
    """Ends a run anywhere."""


def test_a_collector_that_dies_after_sending(post: Post) -> None:
    post.notify("quota_used")
    job = post.job()
    post.world.clock.advance(61)

    class Dying(SmtpMailer):
        def open(self) -> Any:
            outer = super().open()

            class Session:
                def __enter__(self) -> "Session":
                    self.session = outer.__enter__()
                    return self

                def send(self, mail: Mail) -> Outcome:
                    self.session.send(mail)
                    raise Killed

                def __exit__(self, *details: Any) -> None:
                    outer.__exit__(None, None, None)

            return Session()

    mailer = job.mailer
    assert isinstance(mailer, SmtpMailer)
    with pytest.raises(Killed):
        replace(job, mailer=Dying(mailer.server, mailer.sender)).run_if_due()
    assert job.run_if_due() is None, "the dead one still has the lease"
    assert post.send(400) == Sent(sent=1)
    assert len(post.server.ids()) == 2
    assert len(set(post.server.ids())) == 1


def test_two_collectors_make_one_mail(post: Post) -> None:
    for _ in range(20):
        post.append("quota_used")
    post.deliver()
    post.world.clock.advance(61)
    outcomes: list[Sent | None] = []
    job = post.job()
    threads = [threading.Thread(target=lambda: outcomes.append(job.run_if_due())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [outcome for outcome in outcomes if outcome is not None] == [Sent(sent=1)]
    assert post.subjects == [(ALICE, "20 quotas are nearly used up")]


def test_who_has_lost_its_claim_makes_no_mails(post: Post) -> None:
    post.notify("quota_used")
    post.world.clock.advance(61)
    job = post.job()
    assert post.world.engine.atomic(lambda: job._make(1.0)) == 0
    assert post.world.engine.rows("SELECT id FROM mails") == []


# -- unsubscribed ------------------------------------------------------------------------------------------------------


def test_mails_have_a_link_that_works_without_login(post: Post) -> None:
    post.notify("quota_used")
    post.send()
    (_, message) = post.server.received[0]
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    url, _, token = str(message["List-Unsubscribe"]).strip("<>").partition("?token=")
    assert url == "https://limes.example.com/v1/notifications/unsubscribe"
    assert UNSUBSCRIBE_LINKS.read(token) == Subscription(ALICE, "quota_used")
    assert f"?token={token}" in text_of(message)


def test_who_has_unsubscribed_gets_no_mail(post: Post) -> None:
    post.recipients = Recipients([RecipientRule(["Alice@example.com", BOB])])
    engine = post.world.engine
    engine.atomic(lambda: queries.unsubscribe(engine, ALICE, "quota_used", 1))
    engine.atomic(lambda: queries.unsubscribe(engine, BOB, "*", 1))
    post.notify("quota_used")
    post.notify("commitment_expires")
    assert post.send() == Sent(sent=1)
    assert [recipient for recipient, _ in post.subjects] == ["Alice@example.com"]
    assert engine.rows("SELECT number FROM mail_items WHERE mail_id IS NULL") == []
    assert engine.atomic(lambda: queries.subscribe(engine, BOB, "*"))
    post.notify("quota_used")
    assert post.send() == Sent(sent=1)


def test_old_mails_are_forgotten(post: Post) -> None:
    post.notify("quota_used")
    post.send()
    assert post.send(8 * DAY) == Sent()
    engine = post.world.engine
    assert engine.rows("SELECT id FROM mails") + engine.rows("SELECT number FROM mail_items") == []


def unsubscribe_path(recipient: str = ALICE, kind: str = "quota_used") -> str:
    return f"/v1/notifications/unsubscribe?token={UNSUBSCRIBE_LINKS.token(Subscription(recipient, kind))}"


def ask(world: World, method: str, path: str, body: str = "") -> Any:
    path, _, query = path.partition("?")
    headers = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
    return world.request(method, path, None, query_string=query, body=body, headers=headers)


def test_a_click_unsubscribes_and_another_one_undoes_it(post: Post) -> None:
    engine, path = post.world.engine, unsubscribe_path()
    page = ask(post.world, "GET", path)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "Stop sending mails of the kind quota_used to alice@example.com?" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert queries.all_unsubscribed(engine) == [], "programs that follow links change nothing"
    for body in ("List-Unsubscribe=One-Click", "action=unsubscribe", ""):
        answer = ask(post.world, "POST", path, body)
        assert (answer.status_code, "gets no more mails of the kind quota_used" in answer.text) == (200, True)
    assert [row[:2] for row in queries.all_unsubscribed(engine)] == [(ALICE, "quota_used")]
    post.notify("quota_used")
    assert post.send() == Sent()
    answer = ask(post.world, "POST", path, "action=subscribe")
    assert (answer.status_code, "gets mails of the kind quota_used again" in answer.text) == (200, True)
    post.notify("quota_used")
    assert post.send() == Sent(sent=1)


def test_links_that_are_not_ours(world: World) -> None:
    for path in ("/v1/notifications/unsubscribe", unsubscribe_path() + "x", "/v1/notifications/unsubscribe?token=a.b"):
        for method in ("GET", "POST"):
            answer = ask(world, method, path)
            assert (answer.status_code, answer.text.startswith("this link is not valid")) == (400, True)
    assert queries.all_unsubscribed(world.engine) == []


def test_bodies_are_bounded(world: World) -> None:
    assert ask(world, "POST", unsubscribe_path(), "x" * 5000).status_code == 413


def test_an_address_is_no_markup(world: World) -> None:
    page = ask(world, "GET", unsubscribe_path("<script>@example.com"))
    assert "<script>" not in page.text
    assert "&lt;script&gt;@example.com" in page.text


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_limes_makes_can_be_a_mail(make: Callable[..., World], language: str) -> None:
    world = make(behaviors=BEHAVIORS)
    run(world, "UPDATE project_resources SET usage = 0")
    job = notify(world)
    job.run()
    made = commit(world, duration="1 year", confirm_by=NOW + DAY)
    world.clock.advance(2 * DAY)
    commit(world, duration="1 year", amount=1)  # which settles the resource
    job.run()
    run(world, "UPDATE project_commitments SET auto_renews = %s, expires_at = %s", True, NOW + 20 * DAY)
    assert world.request("POST", f"{PATHS['berlin']}/commitments/{made['id']}/renew").status_code < 300
    ends = commit(world, duration="1 year", amount=1)["id"]
    end = "UPDATE project_commitments SET created_at = 1, confirmed_at = 1, expires_at = %s WHERE id = %s"
    run(world, end, NOW + 20 * DAY, ends)
    waits = commit(world, duration="1 year", amount=1, confirm_by=NOW + 9 * DAY)["id"]
    run(world, "UPDATE project_commitments SET confirm_by = %s WHERE id = %s", NOW - DAY, waits)
    run(world, "UPDATE project_services SET scrape_error = 'no', failing_since = 1")
    run(world, "UPDATE project_resources SET usage = 900 WHERE quota = 1024")
    job.run()
    run(
        world,
        "UPDATE project_commitments SET auto_renews = %s, renewal_error = 'no capacity' WHERE id = %s",
        True,
        ends,
    )
    run(world, "UPDATE project_resources SET usage = 1100 WHERE quota = 1024")
    job.run()
    documents = told(world)
    for document in documents:
        mail = Templates().render(document["kind"], language, [document], Around(), strict=True)
        assert "None" not in mail.subject + mail.text + mail.html, mail.text
    others = {kind for kind in KINDS if kind.startswith("temporary_")} | REQUEST_KINDS
    assert {each["kind"] for each in documents} == set(KINDS) - others


# -- the mail API, and metrics -----------------------------------------------------------------------------------------


def test_the_mail_api_gets_one_mail_for_each_project(post: Post, receiver: Receiver) -> None:
    post.recipients = ProjectItself(Languages("de"))
    post.notify("quota_used")
    post.notify("quota_used")
    post.notify("backend_unreachable")
    adapter = TimedAdapter(Session(Token(None, "our-token")), 20, endpoint_override=receiver.url)
    receiver.status = 503
    job = replace(post.job(), mailer=MailApi(adapter))
    post.world.clock.advance(61)
    outcome = job.run_if_due()
    assert outcome is not None
    assert (outcome.sent, outcome.error) == (0, "HTTP 503")
    receiver.status = 200
    post.world.clock.advance(61)
    assert job.run_if_due() == Sent(sent=1)
    (first, body), (again, same) = receiver.got
    assert body == same
    assert first["Limes-Message-Id"] == again["Limes-Message-Id"]
    document = json.loads(body)
    assert (document["project_id"], document["subject"]) == (BERLIN, "2 Quotas sind fast ausgeschöpft")
    assert "unsubscribe" not in document["mail_text"]


def test_metrics(post: Post) -> None:
    counters, gauges = MailCounters(["smtp"]), MailGauges(post.world.engine, post.world.clock, ["smtp"])
    post.recipients = Recipients([RecipientRule([ALICE, BOB, "carol@example.com"])])
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
