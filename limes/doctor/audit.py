"""The sinks of audit events."""

from collections.abc import Iterator

from limes.backends.timeouts import within
from limes.composition.audit import open_sink
from limes.doctor.case import Case
from limes.doctor.finding import Finding, ok, problem, skipped
from limes.errors import BackendOutage

_MEND = {
    "log": "make the folder of audit.log.path, and let our user write there",
    "rabbitmq": "correct audit.rabbitmq.url and LIMES_AUDIT_RABBITMQ_PASSWORD, or start the broker",
}


def check(case: Case) -> Iterator[Finding]:
    """Whether each sink would take events now. None is sent."""
    audit = case.settings.audit
    if not audit.sinks:
        yield skipped("audit", "audit.sinks names none, so nobody is told of changes")
    for name in audit.sinks:
        sink = open_sink(name, audit)
        try:
            error = within(case.timeout, sink.try_out)
        except BackendOutage as outage:
            error = str(outage)
        if error is None:
            yield ok(f"audit.{name}", f"the sink {name} takes events")
        else:
            yield problem(f"audit.{name}", f"the sink {name} does not take events: {error}", _MEND[name])
