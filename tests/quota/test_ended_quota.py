"""People are told that quota for a time was given back: once, and not before all of it was."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from limes.notifications.mail.templates import MailContext, Templates, sample
from tests.api.world import BERLIN, GERMANY, World
from tests.notifications.test_notifications import told
from tests.quota.temporary import DAY, START, later, set_quota, use
from tests.requests.quota_requests import quota
from tests.support.limes import with_values
from tests.support.statements import count_statements


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    """One that tells."""
    return make(notify_sinks=("log", "smtp"))


def test_a_project_is_told(cloud: World) -> None:
    set_quota(cloud, "berlin", 4096, name="ram", until=5)
    later(cloud, 4.9)
    assert told(cloud) == []
    later(cloud, 5)
    later(cloud, 6)
    (found,) = told(cloud)
    assert found == {
        "id": found["id"],
        "kind": "temporary_quota_ended",
        "at": START + 5 * DAY,
        "remedy": "Nothing has to be done.",
        "domain": {"id": GERMANY, "name": "germany"},
        "project": {"id": BERLIN, "name": "berlin"},
        "service": "compute",
        "resource": "ram",
        "unit": "MiB",
        "quota": 1024,
        "temporary_quota": {"quota": 4096, "quota_before": 1024, "from": START, "until": START + 5 * DAY},
    }
    assert {*found} - {"remedy"} == {*sample("temporary_quota_ended")} - {"level"}
    sinks = "SELECT sink FROM audit_outbox WHERE event_id = %s ORDER BY sink"
    assert cloud.engine.rows(sinks, [found["id"]]) == [("notify:log",), ("notify:smtp",)]


def test_the_mail(cloud: World) -> None:
    set_quota(cloud, "berlin", 4096, name="ram", until=5)
    set_quota(cloud, "germany", 150, until=5)
    later(cloud, 5)
    of_project, of_domain = told(cloud)
    templates = Templates()

    def text(language: str, *documents: Any) -> tuple[str, str]:
        mail = templates.render("temporary_quota_ended", language, documents, MailContext(), strict=True)
        return mail.subject, mail.text

    subject, english = text("en", of_project)
    assert subject == "berlin: the temporary quota of compute/ram has ended"
    assert "ended on 2026-01-06 00:00 UTC. It was 4096 MiB, and is now 1024 MiB again." in english
    subject, english = text("en", of_domain)
    assert subject == "germany: the temporary quota of compute/cores has ended"
    assert "The temporary quota of domain germany for compute/cores ended" in english
    subject, german = text("de", of_project)
    assert subject == "berlin: Die befristete Quota für compute/ram ist zu Ende"
    assert "Sie betrug 4096 MiB und beträgt jetzt wieder 1024 MiB." in german
    assert text("en", of_project, of_project)[0] == "2 temporary quotas have ended"


@pytest.mark.sql
def test_it_waits_until_all_was_given_back(cloud: World) -> None:
    set_quota(cloud, "berlin", 50, until=3)
    use(cloud, 1, 32)
    later(cloud, 3)
    use(cloud, 1, 25)
    later(cloud, 4)
    assert (quota(cloud, "berlin"), told(cloud)) == (25, [])
    use(cloud, 1, 3)
    later(cloud, 5)
    (found,) = told(cloud)
    assert (quota(cloud, "berlin"), found["quota"], found["at"]) == (20, 20, START + 5 * DAY)


def test_what_does_not_end_by_itself_is_not_told(cloud: World) -> None:
    set_quota(cloud, "berlin", 50, until=3)
    set_quota(cloud, "berlin", 30)  # without an end
    set_quota(cloud, "dresden", 40, start=2, until=3)
    set_quota(cloud, "dresden", 31, keep_until=False)  # the plan is dropped
    set_quota(cloud, "germany", 150, start=1, until=2)
    set_quota(cloud, "germany", 200)
    for day in (1, 2, 3):
        later(cloud, day)
    assert told(cloud) == []


def test_a_kind_that_nobody_wants(cloud: World) -> None:
    quiet = with_values(cloud.limes.settings, {"notifications.except_kinds": ("temporary_quota_ended",)})
    cloud.limes = structs.replace(cloud.limes, settings=quiet)
    set_quota(cloud, "berlin", 50, until=3)
    later(cloud, 3)
    assert (quota(cloud, "berlin"), told(cloud)) == (20, [])


@pytest.mark.sql
def test_many_ends_cost_as_many_statements_as_one(cloud: World) -> None:
    def statements(*names: str) -> int:
        day = (cloud.clock.now().timestamp() - START) / DAY
        for name in names:
            set_quota(cloud, "berlin", 4000, name=name, until=day + 1)
        cloud.clock.advance(DAY)
        return count_statements(cloud.engine, cloud.settle_temporary)

    one = statements("ram")
    assert statements("ram") == one
    set_quota(cloud, "germany", 5000)
    assert statements("ram", "cores") == one
    assert len(told(cloud)) == 4
