"""Quota for a time: it is set, planned, kept and dropped, and shown wherever quota is."""

import time

import pytest

from tests.osc.client import User
from tests.osc.conftest import Cloud
from tests.osc.test_quota import BERLIN_IN_GERMANY, quota
from tests.support.rows import all_rows

DAY = 86400
ONE, TWO = (str((int(time.time()) // DAY + days) * DAY) for days in (10, 20))


def day(seconds: str) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(int(seconds)))


def ends(user: User, command: str = f"project show {BERLIN_IN_GERMANY}") -> object:
    [found] = user.json(f"{command} --resource compute/cores")
    return found["temporary"]


def test_it_is_set_and_shown(germany: User) -> None:
    said = germany.must(f"project set {BERLIN_IN_GERMANY} --set compute/cores=+10 --until {day(ONE)}")
    assert said == f"compute/cores: 20 -> 30 (+10), until {day(ONE)} then 20\n".replace(" then", ", then")
    shown = ends(germany)
    assert isinstance(shown, dict)
    assert shown["state"] == "active"
    assert (shown["quota"], shown["quota_before"], shown["until"]) == (30, 20, int(ONE))
    assert ends(germany, f"project explain {BERLIN_IN_GERMANY}") == shown
    for command in (f"project show {BERLIN_IN_GERMANY}", f"project explain {BERLIN_IN_GERMANY}", "project list"):
        table = germany.must(f"{command} --resource compute/cores")
        assert f"until {day(ONE)}," in table
        assert "then 20" in table


def test_a_plan(germany: User) -> None:
    said = germany.must(f"project set {BERLIN_IN_GERMANY} --set compute/cores=30 --from {ONE} --until {TWO}")
    assert said == f"compute/cores: 20 -> 30 (+10), 30 from {day(ONE)} until {day(TWO)}\n"
    assert quota(germany, "compute/cores") == 20
    table = germany.must(f"project show {BERLIN_IN_GERMANY} --resource compute/cores")
    assert f"30 from {day(ONE)}" in table
    assert (
        "the raise to 30" in germany.run(f"project set {BERLIN_IN_GERMANY} --set compute/cores=20 --drop-until").errors
    )
    assert ends(germany) is None


def test_the_end_is_kept_or_dropped(germany: User) -> None:
    term = f"project set {BERLIN_IN_GERMANY} --set compute/cores"
    germany.must(f"{term}=30 --until {ONE}")
    germany.must(f"{term}=40 --keep-until")
    assert quota(germany, "compute/cores") == 40
    assert ends(germany)
    assert germany.must(f"{term}=40") == f"compute/cores: 40 (unchanged), until {day(ONE)}, then 20\n"
    dropped = germany.run(f"{term}=35")
    assert "no longer goes back to 20" in dropped.errors
    assert dropped.errors.count("no longer goes back") == 1
    assert ends(germany) is None
    germany.must(f"{term}=45 --until {ONE}")
    germany.must(f"{term}=45 --until {TWO}")
    assert ends(germany)
    germany.must(f"{term}=45 --drop-until")
    assert ends(germany) is None
    assert quota(germany, "compute/cores") == 45


def test_what_was_not_given_back(cloud: Cloud, germany: User) -> None:
    germany.must(f"project set {BERLIN_IN_GERMANY} --set compute/cores=30 --until {ONE}")
    cloud.engine.atomic(lambda: cloud.engine.execute("UPDATE temporary_quotas SET state = %s", ["over"]))
    table = germany.must(f"project show {BERLIN_IN_GERMANY} --resource compute/cores")
    assert "over by 10" in table
    assert f"since {day(ONE)}" in table


def test_a_simulation(cloud: Cloud, germany: User) -> None:
    before = all_rows(cloud.engine)
    [row] = germany.json(f"project simulate {BERLIN_IN_GERMANY} --set compute/cores=30 --until {ONE}")
    assert row["temporary"]["quota_before"] == 20
    assert f"until {day(ONE)}," in germany.must(
        f"project simulate {BERLIN_IN_GERMANY} --set compute/cores=30 --until {ONE}"
    )
    assert all_rows(cloud.engine) == before


def test_of_a_domain(admin: User) -> None:
    said = admin.must(f"domain set germany --set compute/cores=150 --until {ONE}")
    assert said == f"compute/cores: 100 -> 150 (+50), until {day(ONE)}, then 100\n"
    assert f"until {day(ONE)}," in admin.must("domain list --resource compute/cores")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("--until yesterday", "'yesterday' is not a time"),
        ("--until 2020-01-01", "until is in the past"),
        (f"--from {ONE}", "--from goes with --until"),
        (f"--until {ONE} --from {TWO}", "until has to be after from"),
        (f"--until {ONE} --keep-until", "leave out --keep-until and --drop-until"),
        ("--keep-until --drop-until", "not allowed with argument"),
        (f"--until {ONE} --enable-bursting", "cannot be set in the same request"),
    ],
)
def test_what_makes_no_sense(cloud: Cloud, germany: User, options: str, problem: str) -> None:
    before = all_rows(cloud.engine)
    assert problem in germany.refused(f"project set {BERLIN_IN_GERMANY} --set compute/cores=30 {options}")
    assert all_rows(cloud.engine) == before
