"""What metrics say of requests for more quota."""

from limes.app.context import Limes
from limes.kernel.metrics import Family, Samples, shows
from limes.requests.lists import open_requests


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
def request_gauges(limes: Limes) -> Samples:
    rows = limes.engine.snapshot(lambda: open_requests(limes.engine))
    found = {(row.is_of_project, row.is_passed_on): (row.number, row.oldest_at) for row in rows}
    now = limes.now()
    for level, state in (("project", "waiting"), ("project", "passed_on"), ("domain", "waiting")):
        number, since = found.get((level == "project", state == "passed_on"), (0, None))
        yield "limes_open_quota_requests", (level, state), number
        if state == "waiting":
            yield "limes_open_quota_requests_age_seconds", (level,), 0.0 if since is None else max(0.0, now - since)


GAUGES = (request_gauges,)
