"""Where audit events and metrics go: the sinks, and the folder of the workers' metrics."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from limes.backends.timeouts import within
from limes.composition.collector import open_sink
from limes.doctor.finding import Context, Finding, ok, problem, skipped
from limes.errors import BackendOutage

_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_MEND = {
    "log": "make the folder of audit.log.path, and let our user write there",
    "rabbitmq": "correct audit.rabbitmq.url and LIMES_AUDIT_RABBITMQ_PASSWORD, or start the broker",
}


def check_sinks(context: Context) -> Iterator[Finding]:
    """Whether each sink would take events now. None is sent."""
    audit = context.settings.audit
    if not audit.sinks:
        yield skipped("audit", "audit.sinks names none, so nobody is told of changes")
    for name in audit.sinks:
        sink = open_sink(name, audit)
        try:
            error = within(context.timeout, sink.try_out)
        except BackendOutage as outage:
            error = str(outage)
        if error is None:
            yield ok(f"audit.{name}", f"the sink {name} takes events")
        else:
            yield problem(f"audit.{name}", f"the sink {name} does not take events: {error}", _MEND[name])


def check_metrics_folder(context: Context) -> Iterator[Finding]:
    """Whether the folder is there, and can be written."""
    configured = context.environ.get(_VARIABLE)
    name, folder = "metrics.folder", Path(configured or context.environ.get("TMPDIR") or tempfile.gettempdir())
    text = f"{_VARIABLE} is {folder}" if configured else f"metrics of workers go to a new folder in {folder}"
    if not folder.is_dir():
        yield problem(name, f"{text}, which is no folder", f"mkdir -p {folder}, for each API one of its own")
    elif not os.access(folder, os.W_OK | os.X_OK):
        yield problem(name, f"{text}, which our user cannot write", f"chown {folder} to the user that runs Limes")
    else:
        yield ok(name, text)
