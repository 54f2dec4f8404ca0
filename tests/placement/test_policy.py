"""Who may do what: both sets of defaults, files that override them, and scopes that nobody may use."""

from pathlib import Path

import pytest

from limes.auth.context import Identity
from limes.auth.without_keystone import NoAuthAuthenticator
from limes.db.engine import Engine
from limes.kernel.errors import ConfigError, Forbidden, Unauthorized
from limes.placement.call import PlacementPolicy
from limes.placement.routes import ROUTES, open_policy, rules
from tests.placement.world import World

OPERATIONS = sorted({op.rule for methods in ROUTES.values() for op in methods.values() if op.rule})


def allowed(policy: PlacementPolicy, rule: str, *roles: str, **identity: str) -> bool:
    try:
        policy.check(rule, Identity(user_id="u", **({"project_id": "p"} | identity), roles=roles), "p")
    except Forbidden:
        return False
    return True


def test_each_operation_has_a_rule() -> None:
    assert set(OPERATIONS) <= {rule.name for rule in rules(True)}


@pytest.mark.parametrize("rule", OPERATIONS)
def test_the_newer_defaults(rule: str) -> None:
    policy = open_policy()
    special = {"placement:reshaper:reshape": {"service"}, "placement:usages": {"admin", "service", "reader"}}
    expected = special.get(rule, {"admin", "service"})
    assert {
        role for role in ("admin", "service", "manager", "member", "reader") if allowed(policy, rule, role)
    } == expected
    assert not allowed(policy, rule)


@pytest.mark.parametrize("rule", OPERATIONS)
def test_the_older_defaults(rule: str) -> None:
    policy = open_policy(enforce_new_defaults=False)
    found = {role for role in ("admin", "service", "member", "reader") if allowed(policy, rule, role)}
    assert found == {"admin", "service"} | ({"reader"} if rule == "placement:usages" else set())


@pytest.mark.parametrize("rule", OPERATIONS)
def test_nobody_may_do_anything_scoped_to_the_system_or_a_domain(rule: str) -> None:
    policy = open_policy(enforce_new_defaults=False)
    assert not allowed(policy, rule, "admin", system_scope="all")
    assert not allowed(policy, rule, "admin", domain_id="d")


@pytest.mark.parametrize("newer", [True, False])
def test_readers_see_the_usages_of_their_own_project_only(newer: bool) -> None:
    policy = open_policy(enforce_new_defaults=newer)
    policy.check("placement:usages", Identity(user_id="u", project_id="p", roles=("reader",)), "p")
    with pytest.raises(Forbidden):
        policy.check("placement:usages", Identity(user_id="u", project_id="p", roles=("reader",)), "q")


def test_a_decision_is_remembered_for_this_identity_and_target_only() -> None:
    policy = open_policy()
    for project, roles, target, expected in (
        ("p", ("reader",), "p", True),
        ("q", ("reader",), "p", False),
        ("p", ("member",), "p", False),
        ("p", ("reader",), "q", False),
        ("p", ("reader",), "p", True),
    ):
        identity = Identity(user_id="u", project_id=project, roles=roles)
        try:
            policy.check("placement:usages", identity, target)
            found = True
        except Forbidden:
            found = False
        assert found is expected


def test_a_file_overrides_rules(placement_engine: Engine, tmp_path: Path) -> None:
    policy_file = tmp_path / "policy.yaml"
    policy_file.write_text('"placement:traits:list": "role:auditor"\n')
    world = World(placement_engine, policy_file)
    assert world.call("GET", "/traits", token="u", x_roles="auditor").status_code == 200
    error = world.refused(403, "GET", "/traits")
    assert error["detail"].endswith("Policy does not allow placement:traits:list to be performed.")
    world.ok("GET", "/resource_classes")


def test_a_reader_cannot_smuggle_in_another_project(world: World) -> None:
    reader = {"token": "u:mine", "x_roles": "reader"}
    world.ok("GET", "/usages?project_id=mine", **reader)
    world.ok("GET", "/usages?project_id=other&project_id=mine", **reader)
    for query in ("project_id=other", "project_id=mine&project_id=other"):
        world.refused(403, "GET", f"/usages?{query}", **reader)
    for query in ("", "?project_id="):
        world.refused(403, "GET", f"/usages{query}", **reader)
        world.refused(400, "GET", f"/usages{query}")


def test_a_broken_file_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        open_policy(tmp_path / "missing.yaml")


def test_noauth_says_who_it_believes() -> None:
    noauth = NoAuthAuthenticator("127.0.0.1:8778")
    assert noauth.authenticate({"HTTP_X_AUTH_TOKEN": "admin"}).roles == ("admin",)
    user = noauth.authenticate({"HTTP_X_AUTH_TOKEN": "user:project:x", "HTTP_X_ROLES": "a, b"})
    assert (user.user_id, user.project_id, user.roles) == ("user", "project:x", ("a", "b"))
    system = noauth.authenticate({"HTTP_X_AUTH_TOKEN": "user", "HTTP_OPENSTACK_SYSTEM_SCOPE": "all"})
    assert (system.project_id, system.system_scope) == (None, "all")
    with pytest.raises(Unauthorized):
        noauth.authenticate({})


@pytest.mark.parametrize("listen", ["0.0.0.0:8778", "10.0.0.1:8778", "[::]:8778"])
def test_noauth_listens_on_the_loopback_only_unless_it_is_meant(listen: str) -> None:
    with pytest.raises(ConfigError, match="noauth believes everybody"):
        NoAuthAuthenticator(listen)
    NoAuthAuthenticator(listen, allow_remote=True)
