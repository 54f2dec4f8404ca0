"""What happens to a project reaches the right people by mail: real API, collector, Keystone and mail server."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
import yaml

from tests.integration.test_recipients import people
from tests.integration.whole.house import House
from tests.support.databases import UrlFactory
from tests.support.keystone import RealKeystone
from tests.support.mail_server import PASSWORD, USER, MailServer, html_of, text_of
from tests.support.processes import eventually

pytestmark = pytest.mark.long
__all__ = ["people"]

SERVICE = {
    "service_type": "storage",
    "type": "static",
    "params": {"area": "storage", "resources": {"capacity": {"unit": "GiB", "quota": 100, "usage": 90}}},
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[MailServer]:
    server = MailServer().start(tmp_path, tls="starttls", login=True)
    yield server
    server.stop()


@pytest.fixture
def house(
    people: RealKeystone, postgres_url_factory: UrlFactory, tmp_path: Path, server: MailServer
) -> Iterator[House]:
    """All that an operator would configure."""
    cluster = {
        "discovery": {"method": "list", "only_domains": "^north$"},
        "services": [SERVICE],
        "notifications": notifications(server),
    }
    house = House(tmp_path, postgres_url_factory(), people, cluster)
    document = yaml.safe_load(house.config.read_text())
    document["notifications"]["mail"]["unsubscribe"] = {"url": house.api_url}
    document["collector"]["temporary_quota_interval"] = 0.5
    house.config.write_text(yaml.safe_dump(document))
    house.env |= {
        "LIMES_NOTIFICATIONS_SMTP_PASSWORD": PASSWORD,
        "LIMES_NOTIFICATIONS_UNSUBSCRIBE_SECRET": "sixteen-characters",
    }
    assert house.command("db", "upgrade").returncode == 0
    house.start("collect")
    house.start("api")
    yield house
    house.stop()


def notifications(server: MailServer) -> dict[str, Any]:
    return {
        "sinks": ["smtp"],
        "interval": 1,
        "smtp": {
            "host": "127.0.0.1",
            "port": server.port,
            "cacert": str(server.certificate),
            "username": USER,
            "sender": "limes@example.com",
        },
        "mail": {
            "gather": 0,
            "languages": [{"domain": "north", "language": "de"}],
            "recipients": [
                {"roles_on_domain": ["resource_admin"], "kinds": ["request_opened"], "language": "en"},
                {"roles_on_project": ["member"], "kinds": ["usage_above_quota", "temporary_quota_ended"]},
            ],
        },
    }


@dataclass
class Office:
    """Those who talk with Limes, and the mails that they get."""

    house: House
    people: RealKeystone
    server: MailServer

    def __post_init__(self) -> None:
        ids = self.people.ids
        self.domain = f"/v1/domains/{ids.domains['north']}"
        self.project = f"{self.domain}/projects/{ids.projects['berlin']}"
        self.boss = self.people.domain_token("north-admin", "north")
        self.asker = self.people.project_token("berlin-admin", "berlin")
        self.operator = self.people.project_token("operator", "service")

    def must(self, method: str, path: str, token: str, document: Any = None) -> Any:
        """The answer to a request that has to succeed."""
        answer = self.house.request(method, path, token, json=document)
        assert answer.ok, answer.text
        return answer.json() if answer.headers.get("content-type") == "application/json" else answer.text

    def is_scraped(self) -> bool:
        """Whether the collector has found the project and its usage."""
        answer = self.house.request("GET", self.project, self.boss)
        return answer.ok and "scraped_at" in answer.json()["project"]["services"][0]

    def ask(self, quota: int, reason: str) -> None:
        """Asks for quota of the project."""
        wanted = {"services": raised(quota), "reason": reason}
        self.must("POST", f"{self.project}/quota-requests", self.asker, {"quota_request": wanted})

    @property
    def mails(self) -> Counter[tuple[str, str]]:
        """How many mails of a subject each recipient has got so far."""
        return Counter((name(recipient), str(message["Subject"])) for recipient, message in self.server.received)

    def mail(self, subject: str) -> EmailMessage:
        """The last one with that subject."""
        return next(message for _, message in reversed(self.server.received) if str(message["Subject"]) == subject)

    def wait_for(self, recipient: str, subject: str) -> None:
        """Waits for a mail."""
        eventually(f"{recipient} is told: {subject}", lambda: (recipient, subject) in self.mails)


def name(address: str) -> str:
    return address.removesuffix("@example.com")


def raised(quota: int, **term: int) -> list[Any]:
    return [{"type": "storage", "resources": [{"name": "capacity", "quota": quota, "unit": "GiB", **term}]}]


ABOVE = "berlin: mehr storage/capacity genutzt, als die Quota erlaubt"
DECIDED = "Ihr Quota-Antrag 1 wurde genehmigt"
ENDED = "berlin: Die befristete Quota für storage/capacity ist zu Ende"


def test_what_people_are_told(house: House, people: RealKeystone, server: MailServer) -> None:
    office = Office(house, people, server)
    eventually("it was scraped", office.is_scraped)
    # more is used than the quota, which nobody has raised yet; Berlin's admin is a member, too
    members = {("berlin-admin", ABOVE): 1, ("berlin-member", ABOVE): 1}
    eventually("members are told", lambda: office.mails == members)
    told = members | ask_and_decide(office) | choose(office) | borrow(office)
    assert office.mails == told, "each once, and nobody else"
    assert PASSWORD not in house.processes["collect"].log_text()


def ask_and_decide(office: Office) -> dict[tuple[str, str], int]:
    """A request, and its approval."""
    office.must("PUT", office.domain, office.operator, {"domain": {"services": raised(1000)}})
    office.ask(200, "<b>Ostern</b>")
    opened = "Quota request 1 of project berlin"
    office.wait_for("north-admin", opened)
    office.must("POST", f"{office.project}/quota-requests/1/approve", office.boss, {"comment": "Viel Erfolg"})
    office.wait_for("berlin-admin", DECIDED)
    assert "&lt;b&gt;Ostern&lt;/b&gt;" in html_of(office.mail(opened))
    assert "Viel Erfolg" in text_of(office.mail(DECIDED))
    return {("north-admin", opened): 1, ("berlin-admin", DECIDED): 1}


def choose(office: Office) -> dict[tuple[str, str], int]:
    """One click, and no such mail any more; others still come. Signed in, one sees that, and chooses more."""
    link = urlsplit(str(office.mail(DECIDED)["List-Unsubscribe"]).strip("<>"))
    one_click = requests.post(link.geturl(), data={"List-Unsubscribe": "One-Click"}, timeout=100)
    assert one_click.status_code == 200, one_click.text
    settings = office.must("GET", "/v1/mail-settings", office.asker)["mail_settings"]
    assert settings["address"] == "berlin-admin@example.com"
    assert [each["kind"] for each in settings["kinds"] if not each["sent"]] == ["request_decided"]
    office.ask(300, "more")
    office.must("POST", f"{office.project}/quota-requests/2/reject", office.boss, {"reason": "no"})
    opened = "Quota request 2 of project berlin"
    office.wait_for("north-admin", opened)
    unwanted = {"mail_settings": {"kinds": [{"kind": "temporary_quota_ended", "sent": False}]}}
    office.must("PUT", "/v1/mail-settings", office.asker, unwanted)
    listed = office.house.command("notify", "unsubscribed").stdout
    assert listed.count("berlin-admin@example.com") == 2, listed
    return {("north-admin", opened): 1}


def borrow(office: Office) -> dict[tuple[str, str], int]:
    """Quota for some seconds, which is given back. What was told of the project before has been sent by then."""
    for seconds in (5, 20, 60):  # on a slow machine the shortest is over before it has begun
        document = {"project": {"services": raised(250, until=int(time.time()) + seconds)}}
        if (answer := office.house.request("PUT", office.project, office.boss, json=document)).ok:
            break
    assert answer.ok, answer.text
    office.wait_for("berlin-member", ENDED)
    assert "Sie betrug 250 GiB und beträgt jetzt wieder 200 GiB" in text_of(office.mail(ENDED))
    return {("berlin-member", ENDED): 1}
