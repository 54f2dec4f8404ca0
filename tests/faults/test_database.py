"""The database crashes, and another one takes its place."""

import time
from collections.abc import Callable

from tests.faults.house import FaultHouse, eventually
from tests.faults.load import Users
from tests.support.postgres_cluster import PostgresCluster


class Disasters:
    """Users are at work until the moment of the disaster, so that nothing of later hides what it has taken; and others
    during and after it, for whom it has to work again."""

    def __init__(self, house: FaultHouse) -> None:
        self.house = house
        self.accepted = 0
        self.failed = 0
        self.in_flight = 0
        self._start = 0

    def strike(self, disaster: Callable[[], None]) -> None:
        """Lets it happen once."""
        before, after = (Users(self.house, start=self._start + step) for step in (0, 10_000))
        self._start += 20_000
        with before.at_work():
            time.sleep(2)
            before.stop()
            disaster()
        before.check_nothing_is_lost()
        with after.at_work():
            eventually("it works again", lambda: after.accepted >= 20)
        after.check_nothing_is_lost()
        self.accepted += before.accepted + after.accepted
        self.failed += before.failed + after.failed
        self.in_flight += sum(map(len, before.unknown.values()))


def test_the_database_crashes_and_starts_again(
    house: FaultHouse, cluster: PostgresCluster, rounds: int, report: Callable[..., None]
) -> None:
    disasters = Disasters(house)

    def crash() -> None:
        cluster.primary.crash()
        time.sleep(0.5)
        cluster.primary.start()

    for _ in range(rounds):
        disasters.strike(crash)
    house.check_recovery()
    report(crashes=rounds, accepted=disasters.accepted, failed=disasters.failed, in_flight=disasters.in_flight)


def test_users_go_on_while_the_database_crashes(
    house: FaultHouse, cluster: PostgresCluster, rounds: int, report: Callable[..., None]
) -> None:
    with Users(house).at_work() as users:
        for _ in range(rounds):
            time.sleep(1.5)
            cluster.primary.crash()
            time.sleep(0.5)
            cluster.primary.start()
        time.sleep(1.5)
    assert users.failed
    users.check_nothing_is_lost()
    house.check_recovery()
    report(crashes=rounds, accepted=users.accepted, failed=users.failed)


def test_fail_over_to_a_synchronous_standby(
    house: FaultHouse, cluster: PostgresCluster, rounds: int, report: Callable[..., None]
) -> None:
    disasters = Disasters(house)
    for _ in range(rounds):
        cluster.add_standby()
        disasters.strike(cluster.fail_over)
    house.check_recovery()
    report(fail_overs=rounds, accepted=disasters.accepted, failed=disasters.failed, in_flight=disasters.in_flight)


def test_commits_that_no_standby_confirms_are_not_acknowledged(
    house: FaultHouse, cluster: PostgresCluster, rounds: int, report: Callable[..., None]
) -> None:
    """The standby is gone, an administrator cancels what waits for it, which PostgreSQL then calls a success, and the
    primary dies before the standby is back: what it alone had is lost, and nobody was told that it was there."""
    cancelled, accepted, failed = 0, 0, 0
    for number in range(rounds):
        cluster.add_standby()
        with Users(house, start=1_000_000 * (number + 1)).at_work() as users:
            time.sleep(2)
            cluster.standby.crash()
            for _ in range(40):
                time.sleep(0.2)
                cancelled += len(cluster.primary.execute(_CANCEL))
            users.stop()
            cluster.primary.crash()
            cluster.primary, cluster.standby = cluster.standby, cluster.primary
            cluster.primary.start()
            cluster.primary.promote()
            cluster.primary.configure("synchronous_standby_names", "")
        users.check_nothing_is_lost()
        accepted += users.accepted
        failed += users.failed
    assert cancelled > 10
    report(accepted=accepted, failed=failed, cancelled=cancelled)


_CANCEL = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
