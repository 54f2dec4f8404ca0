"""The database crashes, and another one takes its place."""

import time

from tests.faults.house import FaultHouse
from tests.faults.load import Users
from tests.support.postgres_cluster import PostgresCluster


def test_the_database_crashes_and_starts_again(house: FaultHouse, cluster: PostgresCluster, rounds, report):
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


def test_fail_over_to_a_synchronous_standby(house: FaultHouse, cluster: PostgresCluster, rounds, report):
    with Users(house).at_work() as users:
        for _ in range(rounds):
            cluster.add_standby()
            time.sleep(2)
            before = users.accepted
            cluster.fail_over()
            deadline = time.monotonic() + 60
            while users.accepted == before:
                assert time.monotonic() < deadline, "no request succeeds after the fail-over"
                time.sleep(0.05)
        time.sleep(1.5)
    assert users.failed
    users.check_nothing_is_lost()
    house.check_recovery()
    report(fail_overs=rounds, accepted=users.accepted, failed=users.failed)


def test_commits_that_no_standby_confirms_are_not_acknowledged(house: FaultHouse, cluster: PostgresCluster, report):
    """The standby is gone, and the primary dies before it is back: what it alone had is lost, and nobody was told."""
    cluster.add_standby()
    with Users(house).at_work() as users:
        time.sleep(2)
        cluster.standby.crash()
        time.sleep(8)  # statement_timeout cuts the waiting short meanwhile
        refused = users.failed
        cluster.primary.crash()
        cluster.primary, cluster.standby = cluster.standby, cluster.primary
        cluster.primary.start()
        cluster.primary.promote()
        cluster.primary.configure("synchronous_standby_names", "")
        time.sleep(3)
    assert refused > 0
    users.check_nothing_is_lost()
    report(accepted=users.accepted, failed=users.failed, unconfirmed=refused)
