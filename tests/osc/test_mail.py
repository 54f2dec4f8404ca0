"""Users see and choose which mails they get."""

import pytest

from tests.osc.client import User
from tests.osc.conftest import Cloud, Login


def unwanted(user: User) -> list[str]:
    return [row["kind"] for row in user.json("mail list") if not row["sent"]]


def test_kinds_are_listed(cloud: Cloud, member: User) -> None:
    rows = member.json("mail list")
    assert {(row["sent"], row["address"]) for row in rows} == {(True, "U7@example.com")}
    assert {"quota_used", "request_decided", "temporary_quota_ended"} <= {row["kind"] for row in rows}
    assert "| quota_used " in member.must("mail list")


def test_some_kinds(cloud: Cloud, member: User) -> None:
    rows = member.json("mail unsubscribe quota_used commitment_expires quota_used")
    assert sorted(row["kind"] for row in rows if not row["sent"]) == ["commitment_expires", "quota_used"]
    member.must("mail subscribe quota_used")
    assert unwanted(member) == ["commitment_expires"]


def test_all(cloud: Cloud, member: User, login: Login) -> None:
    member.must("mail unsubscribe quota_used")
    member.must("mail unsubscribe --all")
    assert len(unwanted(member)) == len(member.json("mail list"))
    assert unwanted(login("berlin-admin")) == []
    member.must("mail subscribe --all")
    assert unwanted(member) == ["quota_used"]


def test_a_user_without_an_address(cloud: Cloud, login: Login) -> None:
    nobody = login("nobody")
    assert {(row["sent"], row["address"]) for row in nobody.json("mail list")} == {(False, None)}
    assert "no mail address of this user is known" in nobody.refused("mail unsubscribe --all")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("mail unsubscribe", "name one or more kinds, or --all"),
        ("mail unsubscribe quota_used --all", "name one or more kinds, or --all"),
        ("mail subscribe quota_usd", "there is no kind of mail 'quota_usd'; there are: "),
    ],
)
def test_what_makes_no_sense(cloud: Cloud, member: User, command: str, text: str) -> None:
    assert text in member.refused(command)
    assert unwanted(member) == []
