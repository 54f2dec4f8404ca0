"""gunicorn's configuration for both HTTP apps: `gunicorn -c python:limes.app.composition.gunicorn_conf APP`.

Reads `LIMES_CONFIG` (the configuration file) and `LIMES_PROCESS` (`api` or `placement`). Whatever would stop the
workers from starting stops gunicorn here, with one line a problem and without a traceback.
"""

import gc
import os
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

gc.disable()  # until the program is loaded: all of it stays
# Before anything imports prometheus_client: it decides by this variable how to keep its values.
_metrics_folder = None
if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
    _metrics_folder = os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix="limes-metrics-")

from limes.app.composition.checks import check_http_process  # noqa: E402 - after the variable is set
from limes.kernel.errors import ConfigError, LimesError  # noqa: E402 - after the variable is set
from limes.kernel.logs import gunicorn_logger  # noqa: E402 - after the variable is set
from limes.kernel.system import tune_garbage_collector  # noqa: E402 - after the variable is set
from limes.web.server import Reload, drain_before_stop, require_free  # noqa: E402 - after the variable is set
from limes.web.worker.thread_worker import with_limits  # noqa: E402 - after the variable is set

_PROGRAMS = {
    "api": ("limes.app.api", "limes.app.composition.api"),
    "placement": ("limes.placement.app", "limes.app.composition.placement"),
    "liquid": ("limes.app.liquid.app", "limes.app.composition.liquid"),
}
process = os.environ.setdefault("LIMES_PROCESS", "api")
try:
    _section, _limits, _log_style = check_http_process(process)
    if not {"GUNICORN_PID", "LISTEN_FDS"} & os.environ.keys():  # else it is given a socket that is open already
        require_free(f"{process}.listen", _section.listen)
except ConfigError as error:
    sys.exit("\n".join(f"limes {process}: {problem}" for problem in error.problems))
except LimesError as error:
    sys.exit(f"limes {process}: {error}")

bind = _section.listen
workers = _section.workers
threads = _section.threads
worker_connections = _section.clients.connections
worker_class = with_limits(_limits)
keepalive = 75
limit_request_line = 8190
forwarder_headers = ""  # no header of a request says where the app is mounted
timeout = 120
graceful_timeout = 30
control_socket_disable = True
_reload: Reload | None = None
proc_name = f"limes-{process}"
accesslog = None  # the logger limes.access writes one line a request
errorlog = "-"
logger_class = gunicorn_logger(_log_style)
loglevel = "warning"


def on_starting(server: Any) -> None:
    """Empties the metrics' folder: what workers of an earlier run have left would be counted again. Then reads what
    the workers share; nobody listens before that is done."""
    if "GUNICORN_PID" not in os.environ:  # else a new gunicorn takes over from one that still runs
        for file in Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]).glob("*.db"):
            file.unlink(missing_ok=True)
    for module in (*_PROGRAMS[process], "oslo_policy.policy"):  # workers share it, and none of them has to load it
        import_module(module)
    _read_what_workers_share(server)
    tune_garbage_collector()


def on_reload(server: Any) -> None:
    """On SIGHUP, brings what the new workers share up to date. The old ones serve meanwhile."""
    _read_what_workers_share(server)


def _read_what_workers_share(server: Any) -> None:
    """Reads Placement's index. If that fails, each worker reads it for itself, or says why it cannot."""
    if process != "placement":
        return
    from prometheus_client import multiprocess

    from limes.app.composition.common import load_any_settings
    from limes.app.composition.placement import load_index
    from limes.db.failures import DATABASE_ERRORS

    try:
        load_index(load_any_settings())
    except (LimesError, *DATABASE_ERRORS) as error:
        server.log.warning("the provider index is not read yet: %s", error)
    multiprocess.mark_process_dead(os.getpid())  # its size is that of the workers', not of this process


def when_ready(server: Any) -> None:
    """Says where it listens, once it does, and takes care of SIGTERM and SIGHUP from here on."""
    global _reload
    _reload = Reload(server)
    if _section.clients.drain:
        drain_before_stop(server, _section.clients.drain)
    server.log.warning("limes %s listens on %s", process, bind)


def post_worker_init(worker: Any) -> None:
    """The app is loaded: from here on there are only requests."""
    tune_garbage_collector()
    if _reload is not None:
        _reload.tell_ready()


def child_exit(server: Any, worker: Any) -> None:
    """Tells the metrics that a worker is gone, so that its gauges are not counted any more."""
    from prometheus_client import multiprocess

    multiprocess.mark_process_dead(worker.pid)


def on_exit(server: Any) -> None:
    """Removes the metrics' files, unless the folder was given from outside."""
    if _metrics_folder is not None:
        shutil.rmtree(_metrics_folder, ignore_errors=True)
