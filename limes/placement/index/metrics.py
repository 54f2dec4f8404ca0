"""What the provider index measures. Each worker has an index of its own."""

from prometheus_client import Gauge, Histogram

REFRESH = Histogram(
    "limes_placement_index_refresh_seconds",
    "How long the index took to follow the database; kind is changes or everything",
    ["kind"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
PROVIDERS = Gauge(
    "limes_placement_index_providers",
    "Resource providers in the index, of the worker that has most",
    multiprocess_mode="livemax",
)
for _kind in ("changes", "everything"):
    REFRESH.labels(_kind)
