"""A request for quota and its decision reach people by mail: real API, collector, Keystone and mail server."""

from collections import Counter
from collections.abc import Iterator
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
                {"roles_on_project": ["member"], "kinds": ["usage_above_quota"]},
            ],
        },
    }


def mails(server: MailServer) -> Counter[tuple[str, str]]:
    """How many mails of a subject each recipient has got so far."""
    return Counter((recipient, str(message["Subject"])) for recipient, message in server.received)


def test_a_request_and_its_decision(house: House, people: RealKeystone, server: MailServer) -> None:
    domain, project = people.ids.domains["north"], people.ids.projects["berlin"]
    path = f"/v1/domains/{domain}/projects/{project}"
    boss, asker = people.domain_token("north-admin", "north"), people.project_token("berlin-admin", "berlin")
    operator = people.project_token("operator", "service")
    eventually(
        "it was scraped", lambda: house.request("GET", path, boss).json()["project"]["services"][0].get("scraped_at")
    )

    # more is used than the quota, which nobody has raised yet
    above = "berlin: mehr storage/capacity genutzt, als die Quota erlaubt"
    members = [(f"{name}@example.com", above) for name in ("berlin-admin", "berlin-member")]
    eventually("members are told", lambda: mails(server).keys() == {*members})

    # a request, and its approval
    assert house.request("PUT", f"/v1/domains/{domain}", operator, json={"domain": {"services": raised(1000)}}).ok
    ask = {"quota_request": {"services": raised(200), "reason": "<b>Ostern</b>"}}
    made = house.request("POST", f"{path}/quota-requests", asker, json=ask)
    assert made.status_code == 201, made.text
    opened = ("north-admin@example.com", "Quota request 1 of project berlin")
    eventually("who decides is told", lambda: opened in mails(server))
    answer = house.request("POST", f"{path}/quota-requests/1/approve", boss, json={"comment": "Viel Erfolg"})
    assert answer.status_code == 200, answer.text
    decided = ("berlin-admin@example.com", "Ihr Quota-Antrag 1 wurde genehmigt")
    eventually("who asked is told", lambda: decided in mails(server))
    by_subject = {str(message["Subject"]): message for _, message in server.received}
    assert "&lt;b&gt;Ostern&lt;/b&gt;" in html_of(by_subject[opened[1]])
    assert "Viel Erfolg" in text_of(by_subject[decided[1]])

    # one click, and no such mail any more; the other kind still comes
    link = urlsplit(str(by_subject[decided[1]]["List-Unsubscribe"]).strip("<>"))
    one_click = requests.post(link.geturl(), data={"List-Unsubscribe": "One-Click"}, timeout=100)
    assert one_click.status_code == 200, one_click.text
    ask = {"quota_request": {"services": raised(300), "reason": "more"}}
    assert house.request("POST", f"{path}/quota-requests", asker, json=ask).status_code == 201
    answer = house.request("POST", f"{path}/quota-requests/2/reject", boss, json={"reason": "no"})
    assert answer.status_code == 200, answer.text
    opened = ("north-admin@example.com", "Quota request 2 of project berlin")
    eventually("who decides is told again", lambda: opened in mails(server))
    listed = house.command("notify", "unsubscribed").stdout
    assert "berlin-admin@example.com" in listed
    first = ("north-admin@example.com", "Quota request 1 of project berlin")
    assert mails(server) == Counter([*members, first, decided, opened]), "each once, and none about the second decision"
    assert PASSWORD not in house.processes["collect"].log_text()


def raised(quota: int) -> list[Any]:
    return [{"type": "storage", "resources": [{"name": "capacity", "quota": quota, "unit": "GiB"}]}]
