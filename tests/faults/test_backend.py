"""A backend hangs, and answers nonsense."""

import time
from collections.abc import Callable

from tests.faults.house import FaultHouse, eventually, longer
from tests.faults.load import Users

ERRORS = (
    "SELECT COUNT(*) FROM project_services ps JOIN services s ON s.id = ps.service_id"
    " WHERE s.type = 'compute' AND ps.scrape_error <> ''"
)
FIGURES = "SELECT project_id, resource_id, quota, usage FROM project_resources ORDER BY 1, 2"


@longer
def test_a_backend_hangs(house: FaultHouse, rounds: int, report: Callable[..., None]) -> None:
    """It starves no other one, and holds up nobody who sets quota."""
    slowest, accepted = 0.0, 0
    for number in range(rounds):
        house.backend.hanging = {"compute"}
        with Users(house, start=100_000 * number).at_work(8) as users:
            eventually("the hanging is noticed", lambda: house.rows(ERRORS) != [(0,)])
            # from here on, the API knows as well
            before = house.backend.count("GET", "volume")
            eventually("volume goes on", lambda before=before: house.backend.count("GET", "volume") >= before + 40)
            others = Users(house, "volume", start=100_000 * number)
            with others.at_work(2):
                eventually("others set quota", lambda others=others: others.accepted >= 5)
        slowest = max(slowest, users.slowest, others.slowest)
        accepted += users.accepted + others.accepted
        assert (users.failed, others.failed) == (0, 0)
        users.check_nothing_is_lost()
        house.backend.hanging = set()
        house.check_recovery()
    # backend_timeout is 2 s; with a thread for each of eight users, nobody waits for much longer
    report(hangs=rounds, accepted=accepted, slowest=round(slowest, 1))


def test_a_backend_answers_nonsense(house: FaultHouse, rounds: int, report: Callable[..., None]) -> None:
    refused = 0
    for _ in range(rounds):
        house.check_recovery()
        before = house.rows(FIGURES)
        house.backend.nonsense = {"compute"}
        began = house.backend.count("GET", "compute")
        eventually("all kinds were tried", lambda began=began: house.backend.count("GET", "compute") >= began + 60)
        eventually("it is noticed", lambda: house.rows(ERRORS) == [(20,)])
        refused += house.backend.count("GET", "compute") - began
        assert house.rows(FIGURES) == before
        messages = house.rows(f"SELECT DISTINCT ps.scrape_error {ERRORS.removeprefix('SELECT COUNT(*)')}")
        assert [one for (one,) in messages if not one] == []
        house.backend.nonsense = set()
        house.check_recovery()
    report(reports_refused=refused)


@longer
def test_a_backend_that_is_slow_delays_only_itself(house: FaultHouse, report: Callable[..., None]) -> None:
    house.backend.delay = 1.0
    time.sleep(4)
    house.backend.delay = 0.0
    house.check_recovery()
    assert house.backend.scraped_at_once() == []
    report(scrapes=len(house.backend.calls))
