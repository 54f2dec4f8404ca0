"""What is in the way of `limes serve` is one line, and no traceback."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from limes.commands.serve.prepare import prepare
from limes.errors import StartupError


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Writes a configuration with these parts and makes it ours."""

    def write(**parts: Any) -> None:
        path = tmp_path / "limes.yaml"
        base = {
            "availability_zones": ["az-one"],
            "services": [
                {
                    "service_type": "storage",
                    "type": "static",
                    "params": {"area": "storage", "resources": {"capacity": {"unit": "GiB", "quota": 0}}},
                }
            ],
            "identity": {"method": "sample", "sample": {}},
            "api": {"listen": "127.0.0.1:0"},
            "placement": {"listen": "127.0.0.1:0"},
            "collector": {"listen": "127.0.0.1:0"},
        }
        path.write_text(yaml.safe_dump({**base, **parts}))
        monkeypatch.setenv("LIMES_CONFIG", str(path))

    return write


def test_the_folder_of_the_database_cannot_be_made(config: Callable[..., None], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    config(database={"url": f"sqlite:///{tmp_path}/file/limes.db"})
    with pytest.raises(StartupError, match=r"^database.url: cannot make the folder .*/file: File exists$"):
        prepare()


def test_an_ipv6_address_is_as_good_as_another(config: Callable[..., None], tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/limes.db"
    with socket.socket(socket.AF_INET6) as taken:
        try:
            taken.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6")
        taken.listen()
        config(database={"url": url}, api={"listen": f"[::1]:{taken.getsockname()[1]}"})
        with pytest.raises(StartupError, match=r"^api.listen: cannot listen on \[::1\]:\d+: Address already in use$"):
            prepare()
    config(database={"url": url}, api={"listen": "[::1]:0"})
    settings, folder = prepare()
    assert (settings.api.listen, folder) == ("[::1]:0", tmp_path)
