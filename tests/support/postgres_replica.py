"""A primary with one hot standby that follows it by streaming replication, and what can happen to the standby."""

import contextlib
from collections.abc import Iterator

from tests.support.postgres_cluster import PostgresNode, postgres_cluster


class Replicated:
    """Both servers. Commits do not wait for the standby."""

    def __init__(self, primary: PostgresNode, standby: PostgresNode) -> None:
        self.primary, self.standby = primary, standby

    def copy_anew(self) -> None:
        """Makes the standby a fresh copy of the primary, whatever it was."""
        self.standby.stop()
        self.standby.copy_from(self.primary)
        self.standby.start()

    def pause(self) -> None:
        """The standby shows nothing new from now on."""
        self.standby.execute("SELECT pg_wal_replay_pause()")
        self.standby.wait_for("SELECT 1 WHERE pg_get_wal_replay_pause_state() = 'paused'")

    def resume(self) -> None:
        """It goes on."""
        self.standby.execute("SELECT pg_wal_replay_resume()")

    def catch_up(self) -> None:
        """Waits until the standby shows all that is committed on the primary now."""
        ((position,),) = self.primary.execute("SELECT pg_current_wal_lsn()")
        self.standby.wait_for(f"SELECT 1 WHERE pg_last_wal_replay_lsn() >= '{position}'")

    @staticmethod
    def url(node: PostgresNode, name: str = "postgres") -> str:
        """The address of a database on one of the two."""
        return f"postgresql://postgres@127.0.0.1:{node.port}/{name}"


@contextlib.contextmanager
def replicated_postgres() -> Iterator[Replicated]:
    """Makes both in a scratch folder."""
    with postgres_cluster() as cluster:
        pair = Replicated(cluster.primary, cluster.standby)
        pair.copy_anew()
        yield pair
