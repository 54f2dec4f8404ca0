"""`limes notify`: mails without and with sending them, and who does not want them."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from limes.app.cli import main
from limes.audit import outbox
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.notifications.mail.templates import KINDS, sample
from tests.support.mail_server import MailServer, html_of, text_of

DOMAIN = {"id": "d", "name": "d", "projects": [{"id": "p", "name": "p", "parent_id": "d"}]}
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    return {
        "availability_zones": ["az-one"],
        "database": {"url": f"sqlite:///{tmp_path}/limes.db"},
        "discovery": {"method": "static", "params": {"domains": [DOMAIN]}},
        "services": [
            {"service_type": "s", "type": "static", "params": {"area": "s", "resources": {"capacity": {"usage": 1}}}}
        ],
        "identity": {"method": "sample", "sample": {}},
        "notifications": {"mail": {"link": "https://limes.example.com/ui/"}},
    }


@pytest.fixture
def run(
    document: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Runs a command with that configuration: its exit code and output."""
    path = tmp_path / "limes.yaml"
    monkeypatch.setenv("LIMES_CONFIG", str(path))

    def run_with(*arguments: str) -> tuple[int, str, str]:
        path.write_text(yaml.safe_dump(document))
        code = main(["notify", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_with


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = Engine(f"sqlite:///{tmp_path}/limes.db")
    limes_migrations.upgrade(engine)
    yield engine
    engine.close()


def test_all_kinds_without_a_database(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("preview")
    assert code == 0
    assert [line for line in out.splitlines() if line.startswith("===")] == [f"=== {kind}, en" for kind in KINDS]
    assert "Subject: berlin: 80 % of compute/ram used" in out
    assert "https://limes.example.com/ui/alerts\n" in out
    assert not (tmp_path / "limes.db").exists()


def test_languages_html_and_several(run: Run) -> None:
    _, out, _ = run("preview", "quota_used", "--language", "en", "--language", "de", "--count", "3", "--html")
    assert "=== quota_used, de\nSubject: 3 Quotas sind fast ausgeschöpft\n" in out
    assert out.count("<!DOCTYPE html>") == 2
    _, text, _ = run("preview", "quota_used", "--language", "de", "--json")
    (mail,) = json.loads(text)
    assert set(mail) == {"kind", "language", "subject", "text", "html"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("preview", "weather"), "no such kind: weather; there are backend_unreachable, "),
        (("preview", "--language", "fr"), "there are no templates in fr; there are some in de, en"),
        (("preview", "--send-to", "me@example.com"), "needs smtp.host and smtp.sender"),
        (("unsubscribe", "me@example.com", "weather"), "no such kind: weather"),
    ],
)
def test_what_cannot_work(run: Run, engine: Engine, arguments: tuple[str, ...], said: str) -> None:
    code, _, err = run(*arguments)
    assert code == 1
    assert said in err


def test_a_template_with_a_mistake(run: Run, document: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "mine/en").mkdir(parents=True)
    (tmp_path / "mine/en/quota_used.txt").write_text("Subject: {{ n.projcet.name }}\n\nHello")
    document["notifications"]["mail"]["templates"] = "mine"
    code, _, err = run("preview", "quota_used")
    assert code == 1
    assert "limes: template en/quota_used: UndefinedError" in err
    assert "projcet" in err
    assert run("preview", "commitment_expires")[0] == 0
    assert main(["config", "check"]) == 0


def test_config_check_warns_of_templates(
    run: Run, document: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mail = document["notifications"]["mail"] = {"templates": "mine", "languages": [{"domain": "x", "language": "fr"}]}
    run("preview", "quota_used")
    assert main(["config", "check"]) == 0
    shown = capsys.readouterr().out
    assert "warning: notifications.mail: there are no templates for the language 'fr', so mails are in 'en'" in shown
    assert f"warning: notifications.mail.templates: {tmp_path}/mine is no folder" in shown
    (tmp_path / "mine/en").mkdir(parents=True)
    (tmp_path / "mine/en/mail.html").write_text("{% if %}")
    mail["languages"] = []
    run("preview", "quota_used")
    assert main(["config", "check"]) == 0
    assert (
        "warning: notifications.mail.templates: template en/en/mail.html: TemplateSyntaxError"
        in capsys.readouterr().out
    )


def test_sending(run: Run, document: dict[str, Any]) -> None:
    server = MailServer().start()
    try:
        smtp = {"host": "127.0.0.1", "port": server.port, "security": "none", "sender": "limes@example.com"}
        document["notifications"]["smtp"] = smtp
        code, out, _ = run("preview", "quota_used", "request_opened", "--send-to", "me@example.com")
        assert (code, out.splitlines()[-1]) == (0, "Sent to me@example.com: 2")
        assert [recipient for recipient, _ in server.received] == ["me@example.com"] * 2
        _, message = server.received[0]
        assert "80 %" in text_of(message)
        assert "<p" in html_of(message)
        server.recipients["me@example.com"] = "550 no such user"
        code, _, err = run("preview", "quota_used", "--send-to", "me@example.com")
        assert (code, "550 no such user" in err) == (1, True)
    finally:
        server.stop()
    code, _, err = run("preview", "quota_used", "--send-to", "me@example.com")
    assert (code, "refused" in err) == (1, True)


def test_a_real_notification(run: Run, engine: Engine) -> None:
    document = {**sample("commitment_confirmed"), "id": "the-id", "project": {"id": "uuid-1"}}
    rows = [(1.0, "notify:log", "uuid-1", "the-id", json.dumps(document)), (1.0, "log", "uuid-1", "other", "{}")]
    engine.atomic(lambda: outbox.append(engine, rows))
    code, out, _ = run("preview", "--event", "the-id")
    assert code == 0
    assert out.startswith("=== commitment_confirmed, en\nSubject: uuid-1: a commitment for compute/ram is confirmed")
    for id_, said in (("nothing", "there is no notification nothing"), ("other", "other is no notification")):
        code, _, err = run("preview", "--event", id_)
        assert (code, said in err) == (1, True)


def test_who_does_not_want_mails(run: Run, engine: Engine) -> None:
    assert run("unsubscribed")[1] == "Unsubscribed: nobody\n"
    for _ in range(2):
        code, out, _ = run("unsubscribe", "Me@example.com", "quota_used")
        assert (code, out) == (0, "Me@example.com gets no more mails of the kind quota_used.\n")
    run("unsubscribe", "you@example.com")
    listed = json.loads(run("unsubscribed", "--json")[1])
    assert [(each["address"], each["kind"]) for each in listed] == [
        ("me@example.com", "quota_used"),
        ("you@example.com", "*"),
    ]
    assert re.search(r"you@example.com +all ", run("unsubscribed")[1])
    assert run("subscribe", "me@example.com", "quota_used")[1].endswith(" gets mails of the kind quota_used again.\n")
    assert "had not unsubscribed" in run("subscribe", "me@example.com", "quota_used")[1]
    assert len(json.loads(run("unsubscribed", "--json")[1])) == 1
