"""One way through every route: each request succeeds, on both databases, and all answers are as recorded.

So each query of the API runs on PostgreSQL. After a change of answers that is meant, record anew:
`LIMES_RECORD_ANSWERS=1 pytest tests/api/test_every_route.py`
"""

import pytest
from msgspec import structs
from prometheus_client import CollectorRegistry, generate_latest

from limes.app.features import entries
from limes.app.routes import ROUTES
from limes.reports.data_metrics import DataMetrics
from limes.web.operation import operations_of
from tests.api.refused import refuse
from tests.api.tour import (
    Tour,
    ask_for_changes,
    buy,
    do_the_rest,
    look_as_others,
    look_everywhere,
    request_quotas,
    set_quotas,
    tour,
    wait,
)
from tests.support.limes import with_values

__all__ = ["tour"]


def _in_order(text: str) -> str:
    """Metrics whose samples are sorted within each family: their order has no meaning."""
    families = (family.splitlines() for family in text.split("# HELP ")[1:])
    return "\n".join(f"# HELP {help_}\n{type_}\n" + "\n".join(sorted(samples)) for help_, type_, *samples in families)


def note_metrics(tour: Tour) -> None:
    """What Prometheus gets of this cloud."""
    engine, clock, catalog = tour.world.engine, tour.world.clock, tour.world.limes.catalog
    text = b"".join(DataMetrics(engine, catalog, clock=clock).read().parts()).decode()
    tour.answers.note_text("metrics", "data", _in_order(text))
    registry = CollectorRegistry()
    limes = tour.world.limes
    settings = with_values(limes.settings, {"notifications.sinks": ("smtp",)})
    for gauge in entries("metrics", "GAUGES"):
        registry.register(gauge(structs.replace(limes, settings=settings)))
    tour.answers.note_text("metrics", "gauges", _in_order(generate_latest(registry).decode()))


def note_events(tour: Tour) -> None:
    """What waits for sinks of the audit and of notifications."""
    waiting = tour.world.engine.rows("SELECT sink, stream, document FROM audit_outbox ORDER BY number")
    for sink, stream, document in waiting:
        tour.answers.note_text("events", f"{sink} {stream}", document)


@pytest.mark.sql
def test_every_route_succeeds_and_answers_as_recorded(tour: Tour) -> None:
    buy(tour)
    set_quotas(tour)
    request_quotas(tour)
    do_the_rest(tour)
    look_everywhere(tour)
    ask_for_changes(tour)
    assert tour.visited == {(method, path) for method, path, _ in operations_of(ROUTES)}
    look_as_others(tour)
    refuse(tour)
    note_metrics(tour)
    wait(tour)
    note_events(tour)
    tour.answers.compare()
