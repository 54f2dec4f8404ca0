"""gunicorn's main process empties the folder of the metrics when it starts: what had begun before would be lost."""

import os
import subprocess
import sys
from pathlib import Path

# what gunicorn's configuration imports, and what the check of Placement's policy needs
_BEFORE = "limes.composition.checks, limes.logs, limes.placement.routes, limes.web.server, limes.worker.thread_worker"


def test_no_metric_begins_before_the_folder_is_emptied(tmp_path: Path) -> None:
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", f"import {_BEFORE}"], env=environment, check=True)
    assert list(tmp_path.iterdir()) == []
