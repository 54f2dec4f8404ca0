"""The folder in which the workers of an API keep their metrics."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from limes.doctor.case import Case
from limes.doctor.finding import Finding, ok, problem

_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


def check(case: Case) -> Iterator[Finding]:
    """Whether the folder is there, and can be written."""
    given = case.environ.get(_VARIABLE)
    name, folder = "metrics.folder", Path(given or case.environ.get("TMPDIR") or tempfile.gettempdir())
    what = f"{_VARIABLE} is {folder}" if given else f"metrics of workers go to a new folder in {folder}"
    if not folder.is_dir():
        yield problem(name, f"{what}, which is no folder", f"mkdir -p {folder}, for each API one of its own")
    elif not os.access(folder, os.W_OK | os.X_OK):
        yield problem(name, f"{what}, which our user cannot write", f"chown {folder} to the user that runs Limes")
    else:
        yield ok(name, what)
