"""What is missing skips a test, or fails it where everything must be there."""

from types import SimpleNamespace

import pytest

from tests.setup.needs import CHECKOUT, POSTGRESQL, Need
from tests.support import machine

NEED = Need("a unicorn", lambda place: None, "rides on it", ("unicorn",))
STORY = "a unicorn is missing; not tested: rides on it; to have it: apt-get install unicorn"


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CI", "LIMES_REQUIRE_REAL"):
        monkeypatch.delenv(name, raising=False)


def test_the_test_is_skipped() -> None:
    with pytest.raises(machine.Missing) as raised:
        machine.require(NEED)
    assert raised.value.msg == STORY


@pytest.mark.parametrize("variable", ["CI", "LIMES_REQUIRE_REAL"])
def test_the_test_fails(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "1")
    with pytest.raises(pytest.fail.Exception) as raised:
        machine.require(NEED)
    assert raised.value.msg == STORY


def test_make_check_runs_nothing_that_needs_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\ncheck: export LIMES_TEST_SERVERS = no\n" in (CHECKOUT / "Makefile").read_text()
    monkeypatch.setenv("LIMES_TEST_SERVERS", "no")
    with pytest.raises(pytest.fail.Exception, match="make check runs nothing that needs PostgreSQL: mark this test"):
        machine.require(POSTGRESQL)
    with pytest.raises(machine.Missing):
        machine.require(NEED)


def test_all_such_tests_are_one_line() -> None:
    reports = [SimpleNamespace(longrepr=(f"test_{number}.py", number, "Skipped: ...")) for number in (1, 2)]
    for report in reports:
        machine.in_one_line(report, machine.Missing(STORY))
    assert reports[0].longrepr == reports[1].longrepr == ("tests", 0, f"Skipped: {STORY}")
    other = SimpleNamespace(longrepr=("test.py", 3, "Skipped: no"))
    machine.in_one_line(other, pytest.skip.Exception("no"))
    assert other.longrepr == ("test.py", 3, "Skipped: no")


def test_what_is_no_test_ends_with_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert machine.must_stop() is None
    assert machine.must_stop(NEED) == 0
    assert capsys.readouterr().err == STORY + "\n"
    monkeypatch.setenv("CI", "true")
    assert machine.must_stop(NEED) == 1
