"""Our Placement as a server of its own, to be compared with upstream's."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import ServerProcess, free_port, http_answers

_CHECKOUT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def placement_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of our server on an empty SQLite database, where the token `admin` may do everything."""
    tmp_path = tmp_path_factory.mktemp("placement")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    server = ServerProcess(
        [sys.executable, "-m", "tests.placement.server"],
        ready=http_answers(url),
        log=tmp_path / "placement.log",
        env={"PORT": str(port), "GABBI_LIVE_WORKDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=_CHECKOUT,
    )
    with server:
        yield url
