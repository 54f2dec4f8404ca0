"""Own thresholds: one user is told by mail, once, as long as Keystone says that the user belongs there."""

import json
from typing import Any

import pytest

from limes.notifications.mail.keystone_users import KeystoneUsers
from limes.notifications.recipients import Recipients
from limes.notifications.send_mails import MailRound
from limes.notifications.settings import MailSettings
from tests.api.world import BERLIN, GERMANY, IDENTITIES, Addresses, World
from tests.commitments.commitments import NOW
from tests.notifications.post import Post, post, recipients, server
from tests.notifications.test_notifications import cloud, notifier, use
from tests.support.rows import all_rows, changes
from tests.support.statements import statements_of

__all__ = ["cloud", "post", "server"]

PATH = f"/v1/domains/{GERMANY}/projects/{BERLIN}/my-threshold"
MEMBER = str(IDENTITIES["berlin-member"].user_id)
QUIET = {"except_kinds": ["quota_used", "usage_above_quota"]}


def put(world: World, percent: Any, token: str = "berlin-member") -> Any:
    return world.request("PUT", PATH, token, json={"my_threshold": {"percent": percent}})


def told(world: World) -> list[Any]:
    rows = world.engine.rows("SELECT sink, document FROM audit_outbox ORDER BY number")
    return [(sink, json.loads(document)) for sink, document in rows]


def test_one_sets_and_removes_it(world: World) -> None:
    address = "U7@example.com"
    assert world.get(PATH, "berlin-member") == {"my_threshold": {"percent": None, "address": address}}
    for percent in (70, 1, 100, None, None):
        answer = put(world, percent)
        assert (answer.status_code, answer.json) == (200, {"my_threshold": {"percent": percent, "address": address}})
        assert world.get(PATH, "berlin-member") == answer.json
    put(world, 50)
    assert world.get(PATH, "berlin-admin")["my_threshold"]["percent"] is None, "it is that of one user"


@pytest.mark.parametrize(
    ("percent", "status", "text"),
    [
        (0, 422, "a threshold is a percentage of the quota, from 1 to 100, and not 0\n"),
        (101, 422, "a threshold is a percentage of the quota, from 1 to 100, and not 101\n"),
        ("70", 400, "my_threshold.percent"),
        (70.5, 400, "my_threshold.percent"),
        (True, 400, "my_threshold.percent"),
    ],
)
def test_what_is_refused(world: World, percent: Any, status: int, text: str) -> None:
    before = all_rows(world.engine)
    answer = put(world, percent)
    assert (answer.status_code, text in answer.text) == (status, True), answer.text
    assert changes(before, all_rows(world.engine)) == {}


def test_whom_no_mail_can_reach(world: World) -> None:
    answer = put(world, 70, "billing")
    assert (answer.status_code, answer.text[:37]) == (409, "this user has no role on the project ")


def test_where_no_mails_are_sent(make: Any) -> None:
    world = make(mail_settings=lambda engine, clock: None)
    answer = put(world, 70)
    assert (answer.status_code, answer.text) == (409, "this Limes sends no such mails to users\n")
    assert put(world, None).json == {"my_threshold": {"percent": None, "address": None}}


@pytest.mark.sql
def test_it_is_told_once(cloud: World) -> None:
    put(cloud, 70)
    job = notifier(cloud, "log", "smtp", **QUIET)
    use(cloud, 716)  # exactly 70 % is 716.8
    assert job() == 0
    use(cloud, 717)
    assert (job(), job()) == (1, 0)
    assert told(cloud) == [
        (
            "notify:smtp",
            {
                "id": told(cloud)[0][1]["id"],
                "kind": "own_threshold",
                "at": NOW,
                "remedy": "Ask for more quota, delete what is not needed, or set another threshold.",
                "domain": {"id": GERMANY, "name": "germany"},
                "project": {"id": BERLIN, "name": "berlin"},
                "service": "compute",
                "resource": "ram",
                "unit": "MiB",
                "quota": 1024,
                "usage": 717,
                "threshold": 70,
                "user": {"id": MEMBER},
            },
        )
    ], "by mail alone"
    for usage in (690, 1000):  # not below 65 %
        use(cloud, usage)
        assert job() == 0
    use(cloud, 600)
    assert job() == 0
    use(cloud, 800)
    assert job() == 1


def test_each_user_has_an_own_one(cloud: World) -> None:
    put(cloud, 50)
    put(cloud, 90, "berlin-admin")
    job = notifier(cloud, "smtp", **QUIET)
    use(cloud, 600)
    assert job() == 1
    use(cloud, 1000)
    assert job() == 1
    assert [document["threshold"] for _, document in told(cloud)] == [50, 90]


def test_without_a_threshold_or_mails_nothing_is_told(cloud: World) -> None:
    use(cloud, 1000)
    assert notifier(cloud, "smtp", **QUIET)() == 0
    put(cloud, 50)
    assert notifier(cloud, "log", **QUIET)() == 0
    assert notifier(cloud, "smtp", except_kinds=[*QUIET["except_kinds"], "own_threshold"])() == 0
    put(cloud, None)
    assert notifier(cloud, "smtp", **QUIET)() == 0


def test_any_number_of_thresholds_costs_one_query(cloud: World) -> None:
    job = notifier(cloud, "smtp", **QUIET)
    use(cloud, 100)
    put(cloud, 90)
    job()
    few = len(statements_of(cloud.engine, job))
    cloud.run(
        "INSERT INTO own_thresholds (user_id, project_id, percent)"
        " SELECT p.uuid || r.name, p.id, 95 FROM projects p, resources r"
    )
    assert len(statements_of(cloud.engine, job)) == few


@pytest.mark.sql
def test_the_mail(post: Post) -> None:
    post.recipients = Recipients(MailSettings(recipients=({"addresses": ["boss@example.com"]},)), keystone())
    post.notify("own_threshold", user={"id": MEMBER})
    assert post.send() == MailRound(sent=1)
    assert post.subjects == [("U7@example.com", "berlin: 70 % of compute/ram used, as you wanted to know")]


def test_who_is_gone_gets_none(post: Post) -> None:
    put(post.world, 70)
    put(post.world, 70, "berlin-admin")
    post.recipients = Recipients(MailSettings(), keystone(has_roles=False))
    post.notify("own_threshold", user={"id": MEMBER})
    assert post.send() == MailRound()
    assert post.world.get(PATH, "berlin-member")["my_threshold"]["percent"] is None
    assert post.world.get(PATH, "berlin-admin")["my_threshold"]["percent"] == 70


def test_without_keystone_none_is_sent(post: Post) -> None:
    post.recipients = recipients("boss@example.com")
    post.notify("own_threshold", user={"id": MEMBER})
    assert post.send() == MailRound()


def keystone(*, has_roles: bool = True) -> KeystoneUsers:
    class Known(Addresses):
        def has_role(self, user_id: str, scope: str, uuid: str) -> bool:
            return has_roles and scope == "domain"

    return Known()
