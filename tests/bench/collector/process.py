"""One collector of the measurement: `python -m tests.bench.collector.process URL INTERVAL MOVING`."""

import sys

from limes.app.composition.collector import build_collector
from limes.app.context import Cluster
from limes.app.settings import Settings
from limes.backends.breaker import CircuitBreaker, GuardedQuotaBackend
from limes.backends.loader import Backends
from limes.catalog.catalog import Catalog
from limes.collector.runner import run_until_signal
from limes.db.engine import Engine
from limes.kernel.logs import set_up
from limes.kernel.system import tune_garbage_collector
from limes.quota.constraints import ConstraintSet
from limes.quota.rules import LowPrivRules
from tests.bench.collector.cloud import AZS, SERVICES, FastService, NoCapacity, NoDiscovery, service

OTHER_INTERVALS = {
    f"{job}_interval": 1e8 for job in ("discovery", "consistency", "commitment", "commitment_use", "capacity")
}


def cluster(moving: int) -> Cluster:
    """Fast backends behind the circuit breakers and time limits of the real house. The usage of so many resources moves
    with each report."""
    breakers = {name: CircuitBreaker(f"service {name}") for name in SERVICES}
    quota = {name: GuardedQuotaBackend(FastService(name, moving), breakers[name], 240) for name in SERVICES}
    catalog = Catalog(AZS, [service(name) for name in SERVICES])
    backends = Backends(quota, {"nothing": NoCapacity()}, NoDiscovery(), breakers)
    return Cluster(backends, catalog, ConstraintSet(), LowPrivRules({}, {}))


def settings(interval: float) -> Settings:
    """The defaults, but for the interval."""
    return Settings.model_validate(
        {
            "availability_zones": list(AZS),
            "services": [{"service_type": name, "type": "fast"} for name in SERVICES],
            "capacitors": [{"id": "nothing", "type": "fast"}],
            "collector": {"listen": "127.0.0.1:0", "scrape_interval": interval, **OTHER_INTERVALS},
            "metering": {"interval": 1e8},
        }
    )


def main(url: str, interval: float, moving: int) -> None:
    """Runs until SIGTERM."""
    set_up(level="WARNING")
    tune_garbage_collector()  # as in a collector
    run_until_signal(
        build_collector(Engine(url, application_name="limes-collector"), cluster(moving), settings(interval))
    )


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
