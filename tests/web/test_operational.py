"""`/metrics` of an API is the most expensive request that needs no token."""

import falcon
import pytest
from falcon import testing

from limes.web import operational


def test_metrics_are_read_once_a_second_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks, and however often."""
    readings = iter(range(10))
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "/nowhere")
    monkeypatch.setattr(operational, "render_metrics", lambda: b"reading %d" % next(readings))
    monkeypatch.setattr(operational, "_MAX_AGE", 1e9)
    app = falcon.App()
    app.add_route("/metrics", operational.MetricsEndpoint())
    client = testing.TestClient(app)
    assert {client.simulate_get("/metrics").text for _ in range(3)} == {"reading 0"}
    monkeypatch.setattr(operational, "_MAX_AGE", 0.0)
    assert client.simulate_get("/metrics").text == "reading 1"
