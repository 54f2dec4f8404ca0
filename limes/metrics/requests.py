"""How many requests for quota wait for a decision, and for how long."""

from limes.db.engine import Engine
from limes.db.queries.quota_request_lists import open_requests
from limes.metrics.samples import Family, Samples, shows
from limes.system import Clock

_STATES = (("project", "waiting"), ("project", "passed_on"), ("domain", "waiting"))


@shows(
    Family(
        "limes_open_quota_requests",
        "Open requests for quota; level is project or domain, state is waiting or passed_on (the domain's request"
        " waits)",
        ("level", "state"),
    ),
    Family(
        "limes_open_quota_requests_age_seconds",
        "Age of the oldest request for quota that waits for a decision and was not passed on; 0 if there is none",
        ("level",),
    ),
)
def request_gauges(engine: Engine, clock: Clock) -> Samples:
    rows = engine.snapshot(lambda: open_requests(engine))
    found = {
        ("project" if row.is_of_project else "domain", "passed_on" if row.is_passed_on else "waiting"): row
        for row in rows
    }
    now = clock.now().timestamp()
    for level, state in _STATES:
        row = found.get((level, state))
        yield "limes_open_quota_requests", (level, state), row.number if row else 0
        if state == "waiting":
            yield "limes_open_quota_requests_age_seconds", (level,), max(0.0, now - row.oldest_at) if row else 0.0
