"""The dashboard's sources do not import each other in a circle."""

import os
import re
from graphlib import TopologicalSorter
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "limes" / "ui" / "frontend" / "src"
IMPORT = re.compile(r"""(?:from|import\(?)\s*"(\.[^"]+)\"""")


def imports_of(path: Path) -> set[str]:
    """The files that one imports, types included, as paths without their ending."""
    found = {os.path.normpath(path.parent / name) for name in IMPORT.findall(path.read_text())}
    return {os.path.relpath(name, SOURCES) for name in found}


def test_no_circles() -> None:
    graph = {str(path.relative_to(SOURCES).with_suffix("")): imports_of(path) for path in SOURCES.rglob("*.ts*")}
    assert len(graph["app"]) > 10
    TopologicalSorter(graph).prepare()  # raises CycleError, with the circle
