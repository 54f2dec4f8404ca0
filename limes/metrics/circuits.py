"""The circuits to backends, as this process sees them."""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

STATES = {"closed": 0, "half-open": 1, "open": 2}
NAME = "limes_backend_circuit_state"
_HELP = "0: the backend is asked. 1: one call tries whether it is back. 2: it is left alone for a while"


class CircuitGauge(Collector):
    """One gauge for each backend."""

    def __init__(self, states: Callable[[], Mapping[str, str]]) -> None:
        """`states` answers `closed`, `half-open` or `open` by service type."""
        self._states = states

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The present states."""
        family = GaugeMetricFamily(NAME, _HELP, labels=("backend",))
        for backend, state in sorted(self._states().items()):
            family.add_metric((backend,), STATES[state])
        yield family

    def describe(self) -> list[GaugeMetricFamily]:
        """The name, for the registry."""
        return [GaugeMetricFamily(NAME, _HELP)]
