"""The process of `limes metrics`: it serves figures of the cloud, and does no work on it."""

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry
from prometheus_client.registry import Collector as MetricsSource

from limes.collector.http import MetricsEndpoint, operational_server
from limes.db.engine import Engine
from limes.metrics.samples import SharedFigures

log = logging.getLogger(__name__)


@dataclass(slots=True)
class MetricsProcess:
    """Serves `/healthcheck` and `/metrics` on `listen`; port 0 means any free one."""

    engine: Engine
    sources: Sequence[MetricsSource]
    figures: SharedFigures
    listen: str
    port: int = 0
    """Where it serves, after `start()`."""
    _running: ExitStack = field(default_factory=ExitStack)

    def start(self) -> None:
        """Begins to serve, and returns. Raises `StartupError` if the address cannot be used."""
        registry = CollectorRegistry()
        for source in (*self.sources, self.figures):
            registry.register(source)
        metrics = {"/metrics": MetricsEndpoint(registry, self.figures)}
        server = operational_server(self.listen, self.engine, metrics, "metrics.listen")
        self.port = self._running.enter_context(server)
        log.info("metrics are served on port %d", self.port)

    def stop(self, grace: float = 0.0) -> bool:
        """Ends at once: whoever is cut off in the middle asks again."""
        self._running.close()
        log.info("metrics stopped")
        return True
