"""A collector as a process of its own, on the lab's backends: `python -m tests.collector.process URL HANG_IN GRACE`.

Calls of the method HANG_IN (`report_usage`, `set_quota` or `nothing`) print its name and never return.
"""

import sys
import time
from typing import Any

from limes.app.composition.collector import build_collector
from limes.app.context import Cluster
from limes.app.settings import Settings
from limes.backends.loader import Backends
from limes.catalog.catalog import Catalog
from limes.collector.runner import run_until_signal
from limes.db.engine import Engine
from limes.kernel.logs import set_up
from limes.quota.constraints import ConstraintSet
from limes.quota.rules import LowPrivRules
from tests.collector.lab import (
    BERLIN,
    COMPUTE,
    DRESDEN,
    PARIS,
    VOLUME,
    FakeCapacitor,
    FakeKeystone,
    FakeService,
    NoJitter,
)


class HangingService(FakeService):
    """Never returns from one of its methods."""

    hang_in = "nothing"

    def report_usage(self, project: Any) -> Any:
        self._hang("report_usage")
        return super().report_usage(project)

    def set_quota(self, project: Any, quotas: Any) -> None:
        self._hang("set_quota")
        super().set_quota(project, quotas)

    def _hang(self, method: str) -> None:
        if method == self.hang_in:
            print(f"hanging in {method}", flush=True)
            time.sleep(600)


def settings(**collector: Any) -> Settings:
    """Settings for the lab, with a short poll and lease."""
    return Settings.model_validate(
        {
            "availability_zones": ["az-one", "az-two"],
            "services": [
                {"service_type": "compute", "type": "fake-nova"},
                {"service_type": "volume", "type": "fake-cinder"},
            ],
            "capacitors": [{"id": "nova", "type": "fake"}],
            "collector": {"listen": "127.0.0.1:0", "poll_interval": 0.05, "lease": 1, **collector},
        }
    )


def cluster(compute: FakeService, volume: FakeService, capacitor: FakeCapacitor, keystone: FakeKeystone) -> Cluster:
    """The lab's cluster."""
    catalog = Catalog(["az-one", "az-two"], [COMPUTE, VOLUME])
    backends = Backends({"compute": compute, "volume": volume}, {"nova": capacitor}, keystone)
    return Cluster(backends, catalog, ConstraintSet(), LowPrivRules({}, {}))


def main(url: str, hang_in: str, grace: float) -> None:
    """Runs until SIGTERM."""
    set_up()
    compute = HangingService(COMPUTE)
    compute.hang_in = hang_in
    parts = cluster(compute, FakeService(VOLUME), FakeCapacitor(), FakeKeystone(BERLIN, DRESDEN, PARIS))
    collector = build_collector(Engine(url), parts, settings(), jitter=NoJitter())
    run_until_signal(collector, grace)
    print("ended", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
