"""What can be wrong with notifications: sinks that nobody answers, logins, recipients and templates."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from limes.kernel.findings import Level
from tests.doctor.patient import Patient
from tests.doctor.test_keystone import cloud_patient
from tests.notifications.test_notifications import Receiver, receiver
from tests.support.keystone import RealKeystone
from tests.support.mail_server import PASSWORD, USER, MailServer
from tests.support.processes import free_port

__all__ = ["cloud_patient", "receiver"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[MailServer]:
    server = MailServer().start(tmp_path, tls="starttls", login=True)
    yield server
    server.stop()


@pytest.fixture
def smtp(light_patient: Patient, server: MailServer) -> dict[str, Any]:
    """The section of a server that takes our mail."""
    smtp = {"host": "127.0.0.1", "port": server.port, "cacert": str(server.certificate), "sender": "limes@example.com"}
    smtp |= {"username": USER, "password": PASSWORD}
    recipients = [{"addresses": ["ops@example.com"]}]
    light_patient.document["notifications"] = {"sinks": ["smtp"], "smtp": smtp, "mail": {"recipients": recipients}}
    return smtp


def test_nobody_is_told(light_patient: Patient) -> None:
    assert light_patient.finding("notifications").level is Level.SKIPPED


def test_all_is_well(light_patient: Patient, smtp: dict[str, Any], server: MailServer) -> None:
    found = light_patient.findings("notifications")
    assert [(one.check, one.level) for one in found] == [
        ("notifications.smtp", Level.OK),
        ("notifications.recipients", Level.OK),
        ("notifications.templates", Level.OK),
    ]
    assert server.received == []


def test_a_wrong_password(light_patient: Patient, smtp: dict[str, Any]) -> None:
    smtp["password"] = "falsches-passwort"
    level, message, mend = light_patient.ailment("notifications.smtp")
    assert (level, "535" in message) == ("problem", True)
    assert "falsches-passwort" not in message
    assert "LIMES_NOTIFICATIONS_SMTP_PASSWORD" in mend


def test_an_unknown_certificate(light_patient: Patient, smtp: dict[str, Any]) -> None:
    del smtp["cacert"]
    assert "certificate verify failed" in light_patient.ailment("notifications.smtp")[1]


def test_nobody_answers(light_patient: Patient, smtp: dict[str, Any]) -> None:
    smtp["port"] = free_port()
    notifications = light_patient.document["notifications"]
    notifications["sinks"] = ["smtp", "webhook", "mail_api"]
    notifications["webhook"] = {"url": f"http://127.0.0.1:{free_port()}/", "secret": "sixteen-characters"}
    notifications["mail_api"] = {"endpoint": f"http://127.0.0.1:{free_port()}/"}
    found = {one.check: one.level for one in light_patient.findings("notifications")}
    for sink in ("smtp", "webhook", "mail_api"):
        assert found[f"notifications.{sink}"] is Level.PROBLEM


def test_a_webhook_that_answers(light_patient: Patient, receiver: Receiver) -> None:
    light_patient.document["notifications"] = {
        "sinks": ["webhook"],
        "webhook": {"url": receiver.url, "secret": "sixteen-characters"},
    }
    assert light_patient.finding("notifications.webhook").level is Level.OK
    assert receiver.got == [], "nothing was sent"


def test_a_file(light_patient: Patient, tmp_path: Path) -> None:
    light_patient.document["notifications"] = {"sinks": ["log"], "log": {"path": "no/such/folder"}}
    assert light_patient.ailment("notifications.log")[0] == "problem"


def test_recipients(light_patient: Patient, smtp: dict[str, Any]) -> None:
    mail = light_patient.document["notifications"]["mail"]
    mail["recipients"] = []
    assert light_patient.ailment("notifications.recipients")[:2] == (
        "warning",
        "notifications.mail.recipients is empty",
    )
    mail["recipients"] = [{"roles_on_project": ["member"]}]
    assert "without Keystone" in light_patient.ailment("notifications.recipients")[1]


def test_recipients_from_keystone(cloud_patient: Patient, smtp: dict[str, Any], keystone: RealKeystone) -> None:
    cloud_patient.document["notifications"]["mail"] = {"recipients": [{"roles_on_project": ["member"]}]}
    assert cloud_patient.finding("notifications.recipients").level is Level.OK
    login = keystone.credentials("berlin-viewer", "berlin")
    cloud_patient.document["identity"]["keystone"] |= login
    level, message, mend = cloud_patient.ailment("notifications.recipients")
    assert (level, "HTTP 403" in message) == ("problem", True)
    assert "role assignments" in mend


def test_templates(light_patient: Patient, smtp: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "mine/en").mkdir(parents=True)
    (tmp_path / "mine/en/quota_used.txt").write_text("no subject")
    light_patient.document["notifications"]["mail"]["templates"] = "mine"
    level, message, _ = light_patient.ailment("notifications.templates")
    assert (level, "quota_used" in message, "Subject:" in message) == ("warning", True, True)
