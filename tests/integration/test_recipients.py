"""The mail addresses of users with a role, from a real Keystone."""

from collections.abc import Iterator
from typing import Any

import pytest
from keystoneauth1.session import Session
from requests import Response

from limes.kernel.errors import Unavailable
from limes.kernel.outgoing import TimedAdapter
from limes.notifications.mail.keystone_users import KeystoneUsers
from tests.support.clock import FrozenClock
from tests.support.keystone import RealKeystone
from tests.support.keystone_seed import create

PEOPLE = ("berlin-admin", "berlin-member", "north-admin")


@pytest.fixture
def people(keystone: RealKeystone) -> Iterator[RealKeystone]:
    """A Keystone that knows their addresses."""
    for name in PEOPLE:
        change(keystone, name, email=f"{name}@example.com")
    yield keystone
    for name in PEOPLE:
        change(keystone, name, email=None, enabled=True)


def change(keystone: RealKeystone, user: str, **attributes: object) -> None:
    keystone.api.patch(f"/users/{keystone.ids.users[user]}", json={"user": attributes})


class CountedAdapter(TimedAdapter):
    """Counts requests."""

    calls = 0

    def get(self, url: str, **kwargs: Any) -> Response:
        self.calls += 1
        return super().get(url, **kwargs)


def users(keystone: RealKeystone, **options: Any) -> tuple[KeystoneUsers, CountedAdapter, FrozenClock]:
    session: Session = keystone.api.session
    adapter = CountedAdapter(session, 200, endpoint_override=keystone.url)
    clock = FrozenClock()
    return KeystoneUsers(adapter, clock, **options), adapter, clock


def test_whether_a_user_belongs_somewhere(people: RealKeystone) -> None:
    found, adapter, _ = users(people)
    berlin, north = people.ids.projects["berlin"], people.ids.domains["north"]
    member, boss = people.ids.users["berlin-member"], people.ids.users["north-admin"]
    for _ in range(2):
        assert found.has_role(member, "project", berlin)
        assert not found.has_role(member, "domain", north)
        assert found.has_role(boss, "domain", north)
        assert not found.has_role("0" * 32, "project", berlin)
        assert not found.has_role(member, "project", "0" * 32)
    assert adapter.calls == 5


def test_users_with_a_role(people: RealKeystone) -> None:
    found, _, _ = users(people)
    berlin, north = people.ids.projects["berlin"], people.ids.domains["north"]
    assert found.with_roles("project", berlin, ["resource_admin"]) == [
        "berlin-admin@example.com",
        "north-admin@example.com",
    ]
    assert found.with_roles("project", berlin, ["resource_admin", "member"]) == [
        "berlin-admin@example.com",
        "berlin-member@example.com",
        "north-admin@example.com",
    ]
    assert found.with_roles("domain", north, ["resource_admin"]) == ["north-admin@example.com"]
    assert found.with_roles("project", berlin, ["nobody-has-this"]) == []
    assert found.with_roles("project", "no-such-project", ["member"]) == []


def test_users_by_name(people: RealKeystone) -> None:
    """Also wherever they have a role."""
    found, adapter, _ = users(people)
    berlin, ids = people.ids.projects["berlin"], people.ids.users
    admins = ([(ids["berlin-admin"], "berlin-admin"), (ids["north-admin"], "north-admin")], 0)
    assert found.named("project", berlin, ["resource_admin"]) == admins
    assert found.named("domain", people.ids.domains["north"], ["resource_viewer", "nobody-has-this"])[1] == 0
    anywhere, more = found.named("cluster", "", ["resource_admin"])
    assert {*admins[0]} <= {*anywhere}
    assert more == 0
    calls = adapter.calls
    assert found.named("cluster", "", ["resource_admin"]) == (anywhere, 0)
    assert adapter.calls == calls, "they are kept"
    assert users(people, at_most=1)[0].named("project", berlin, ["resource_admin"]) == (admins[0][:1], 1)
    change(people, "berlin-admin", enabled=False)
    assert users(people)[0].named("project", berlin, ["resource_admin"]) == (admins[0][1:], 0)
    assert found.named("cluster", "", ["nobody-has-this"]) == ([], 0)


def test_users_in_groups(people: RealKeystone) -> None:
    api, ids = people.api, people.ids
    group = create(api, "groups", name="mail-group", domain_id=ids.domains["north"])
    try:
        api.put(f"/groups/{group}/users/{ids.users['berlin-member']}")
        api.put(f"/projects/{ids.projects['dresden']}/groups/{group}/roles/{ids.roles['resource_viewer']}")
        found, _, _ = users(people)
        assert found.with_roles("project", ids.projects["dresden"], ["resource_viewer"]) == [
            "berlin-member@example.com"
        ]
    finally:
        api.delete(f"/groups/{group}")


def test_who_has_no_address_or_is_disabled(people: RealKeystone) -> None:
    found, _, _ = users(people)
    ids = people.ids
    assert found.address_of(ids.users["berlin-admin"]) == "berlin-admin@example.com"
    assert found.address_of(ids.users["berlin-viewer"]) is None
    assert found.address_of("no/such user") is None
    for wrong in ("x\r\nBcc: all@example.com", "two@example.com, three@example.com", "<a@b>", 7):
        change(people, "berlin-member", email=wrong)
        assert users(people)[0].address_of(ids.users["berlin-member"]) is None
    change(people, "berlin-admin", enabled=False)
    assert users(people)[0].address_of(ids.users["berlin-admin"]) is None


def test_answers_are_kept_and_calls_are_bounded(people: RealKeystone) -> None:
    found, adapter, clock = users(people, at_most=2)
    berlin = people.ids.projects["berlin"]
    roles = ["resource_admin", "member", "resource_viewer"]
    first = found.with_roles("project", berlin, roles)
    assert first == ["berlin-admin@example.com", "berlin-member@example.com"]
    assert adapter.calls == 1 + 2
    assert found.with_roles("project", berlin, roles) == first
    assert adapter.calls == 3
    clock.advance(4000)
    assert found.with_roles("project", berlin, roles) == first
    assert adapter.calls == 6


def test_keystone_does_not_answer(own_keystone: RealKeystone) -> None:
    found, adapter, _ = users(own_keystone)
    own_keystone.server.process.stop()
    for _ in range(3):
        with pytest.raises(Unavailable, match="cannot ask Keystone for users"):
            found.with_roles("project", own_keystone.ids.projects["berlin"], ["member"])
    assert adapter.calls == 1, "it is left alone for a while"
