"""What commands say besides a refusal: why, and what would work."""

from limes_osc.values import Amount, exact, rounded

from limes.kernel.units import MAX_AMOUNT, Unit
from tests.osc.client import User
from tests.osc.conftest import Cloud, Login

MUCH = "compute/cores 9999 --az az-one --duration '1 hour'"
NO_CAPACITY = "not enough capacity available for immediate confirmation"
WORKS = (
    "What would work:\n"
    "- 119 can be confirmed at once\n"
    "- all of it, once there is more capacity{}: with --confirm-by <time> it waits for that\n"
)


def test_can_confirm_says_why(cloud: Cloud, berlin: User) -> None:
    outcome = berlin.run(f"commitment can-confirm {MUCH} -f json")
    assert outcome.status == 1
    assert outcome.json == {
        "result": False,
        "reason": f"{NO_CAPACITY}; 119 could be confirmed now;"
        " for all of it, capacity for 9880 is missing in the foreseeable future",
        "confirmable_now": 119,
        "confirmable_at": None,
        "unit": "",
    }
    assert outcome.errors.endswith(WORKS.format(""))
    table = berlin.run(f"commitment can-confirm {MUCH}").out
    assert "| Reason          | not enough capacity available |" in table
    assert berlin.run(f"commitment can-confirm {MUCH} -f value").out == "False\n"


def test_a_refused_creation_says_what_would_work(cloud: Cloud, login: Login) -> None:
    said = login("berlin-admin").refused(f"commitment create {MUCH}")
    assert said == f"{NO_CAPACITY}\n{WORKS.format(' (9880 missing)')}"


def test_other_refusals_have_no_such_advice(cloud: Cloud, berlin: User) -> None:
    create = "commitment create compute/cores {} --az az-one --duration '1 hour' --idempotency-key once"
    berlin.must(create.format(5))
    said = berlin.refused(create.format(6))
    assert "HTTP 4" in said
    assert "What would work" not in said


def test_capacity_that_others_free_in_time(cloud: Cloud, login: Login, berlin: User) -> None:
    login("dresden-admin").must("commitment create compute/cores 60 --az az-one --duration '1 hour'")
    wish = "compute/cores 110 --az az-one --duration '1 year'"
    said = berlin.refused(f"commitment create {wish}")
    assert "- 90 can be confirmed at once\n" in said
    assert "- all of it from 2026-01-01 01:00:00 UTC (" in said
    assert "plan it with --confirm-by 2026-01-01T01:00:00Z\n" in said
    assert "- openstack limes commitment plan shows which commitments have to end before" in said
    made = berlin.json(f"commitment create {wish} --confirm-by 2026-01-01T01:00:00Z")
    assert made["status"] == "planned"


def test_the_only_zone_need_not_be_named(cloud: Cloud, login: Login) -> None:
    made = login("berlin-admin").json("commitment create compute/ram 1GiB --duration '1 year' --confirm-by 2026-02-01")
    assert made["az"] == "any"
    said = login("berlin-admin").refused("commitment create compute/ram 1GiB")
    assert said == "--duration: which one? There are: 1 year, 2 years\n"


def test_a_project_of_the_token_that_limes_does_not_manage(cloud: Cloud, berlin: User) -> None:
    """As that of many cloud admins."""
    cloud.engine.execute("DELETE FROM projects WHERE uuid = 'uuid-for-berlin'", [])
    for command, option in (
        ("project show", "the argument <project>"),
        ("commitment list", "--project"),
        ("commitment create compute/cores 1", "--project"),
    ):
        said = berlin.refused(command)
        assert "no such project (if it was just created, try `openstack limes project discover`)\n" in said
        assert f"Name another one with {option}, or set OS_LIMES_PROJECT" in said
    assert "OS_LIMES_PROJECT" not in berlin.refused("project show uuid-for-berlin --domain uuid-for-germany")


def test_largest_amounts() -> None:
    for amount in (MAX_AMOUNT, 2**64 - 1):
        assert exact(amount, Unit.MIB) == rounded(amount, Unit.COUNT) == "no limit"
        assert Amount(amount, Unit.GIB, Unit.TIB).human_readable() == "no limit"
    assert Amount(MAX_AMOUNT, Unit.GIB).machine_readable() == MAX_AMOUNT
    assert exact(2**56, Unit.BYTES) == "64 PiB"
