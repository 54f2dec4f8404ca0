"""Which metrics begin where. What gunicorn's main process begins before it empties their folder would be lost."""

import os
import subprocess
import sys
from pathlib import Path

# what gunicorn's configuration imports, and what the check of Placement's policy needs
_BEFORE = "limes.app.composition.checks, limes.kernel.logs, limes.placement.routes, limes.web.server, limes.web.worker.thread_worker"


def test_no_metric_begins_before_the_folder_is_emptied(tmp_path: Path) -> None:
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", f"import {_BEFORE}"], env=environment, check=True)
    assert list(tmp_path.iterdir()) == []


def test_the_collector_has_no_metrics_of_http() -> None:
    shown = "import limes.app.composition.collector, prometheus_client as p; print(p.generate_latest().decode())"
    answer = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    assert "process_cpu_seconds_total" in answer.stdout
    assert "httpmux" not in answer.stdout
