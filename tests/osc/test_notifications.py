"""What users are told: their inbox, their own thresholds, and the webhook of their project."""

import pytest

from tests.osc.client import User
from tests.osc.conftest import Cloud, Login


def test_the_inbox(cloud: Cloud, login: Login) -> None:
    admin, boss = login("berlin-admin"), login("germany-admin")
    assert admin.json("inbox list") == []
    assert "There is nothing in your inbox." in admin.run("inbox list").errors
    number = admin.json("request create --set compute/cores=40 --reason launch")["id"]
    boss.must(f"request comment {number} why")
    boss.must(f"request reject {number} --reason no")
    rows = admin.json("inbox list --mark-seen")
    assert [(row["kind"], row["text"], row["request"], row["unread"]) for row in rows] == [
        ("rejected", "no", number, True),
        ("comment", "why", number, True),
    ]
    (row,) = admin.json("inbox list --limit 1")
    assert (row["project_name"], row["unread"]) == ("berlin", False)
    (row,) = admin.json(f"inbox list --marker {row['number']}")
    assert row["kind"] == "comment"
    assert boss.json("inbox list") == []


def test_an_own_threshold(cloud: Cloud, login: Login) -> None:
    admin, address = login("berlin-admin"), "U6@example.com"
    assert admin.json("threshold show") == {"percent": None, "address": address}
    assert admin.json("threshold set --percent 70") == {"percent": 70, "address": address}
    assert admin.json("threshold show") == {"percent": 70, "address": address}
    assert login("germany-admin").json("threshold show berlin")["percent"] is None
    assert admin.json("threshold set --clear")["percent"] is None


def test_a_webhook(cloud: Cloud, login: Login) -> None:
    admin, url = login("berlin-admin"), "https://chat.example.com/hooks/1"
    made = admin.json(f"webhook set --url {url}")
    assert (made["url"], len(made["secret"])) == (url, 48)
    shown = admin.json("webhook show")
    assert (shown["url"], shown["set_by"], shown["secret"]) == (url, "u6", None)
    assert made["secret"] not in admin.run("webhook show --debug").errors
    admin.must("webhook delete")
    assert "this project has no webhook" in admin.refused("webhook show")
    assert "this project has no webhook" in admin.refused("webhook delete")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("threshold set", "one of the arguments --percent --clear is required"),
        ("threshold set --percent 0", "a threshold is a percentage of the quota, from 1 to 100, and not 0"),
        ("webhook set --url https://evil.example/", "evil.example is not among the hosts that are allowed"),
        ("webhook set", "the following arguments are required: --url"),
    ],
)
def test_what_is_refused(cloud: Cloud, login: Login, command: str, text: str) -> None:
    user: User = login("berlin-admin")
    assert text in user.run(command).errors
