"""What is counted of reads from standbys."""

from prometheus_client import Counter, Gauge

READS = Counter(
    "limes_database_reads", "Requests that only read, by the server that they were begun on", ["db_name", "server"]
)
PASSED_OVER = Counter(
    "limes_replica_passed_over",
    "How often a standby was not used, or left: behind, late, unreachable, conflict, no standby",
    ["db_name", "server", "reason"],
)
LAG = Gauge(
    "limes_replica_lag_seconds",
    "The oldest state that the standby may show, when it was last chosen or passed over",
    ["db_name", "server"],
    multiprocess_mode="livemax",
)
