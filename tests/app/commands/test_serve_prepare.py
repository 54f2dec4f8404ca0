"""What is in the way of `limes serve` is one line, and no traceback."""

import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from limes.app.commands.serve.prepare import prepare
from limes.kernel.errors import StartupError


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
        with pytest.raises(
            StartupError, match=r"^api.listen: cannot listen on \[::1\]:\d+: Address already in use; stop what"
        ):
            prepare()
    config(database={"url": url}, api={"listen": "[::1]:0"})
    settings, folder = prepare()
    assert (settings.api.listen, folder) == ("[::1]:0", tmp_path)


def test_fresh_data(config: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database, state = tmp_path / "limes.db", tmp_path / "state.json"
    params = {"area": "storage", "state_file": str(state), "resources": {"capacity": {"unit": "GiB", "quota": 0}}}
    services = [{"service_type": "storage", "type": "static", "params": params}]
    config(database={"url": f"sqlite:///{database}"}, services=services)
    prepare(fresh=True)
    assert capsys.readouterr().out == "", "there was nothing yet"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE mine (id INTEGER)")
    state.write_text("{}")
    prepare()
    assert state.exists()
    prepare(fresh=True)
    assert not state.exists()
    assert f"Deleted {database}\n" in capsys.readouterr().out
    with sqlite3.connect(database) as connection:
        assert "mine" not in {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (
            {"database": {"url": "postgresql://limes:secret@127.0.0.1:1/cloud"}},
            "--fresh deletes SQLite files only, not the PostgreSQL database cloud on 127.0.0.1",
        ),
        (
            {"identity": {"method": "keystone", "keystone": {"cloud": "west"}}},
            "--fresh deletes all data, so it is only for sample clouds",
        ),
    ],
)
def test_data_that_are_never_deleted(
    config: Callable[..., None], tmp_path: Path, parts: dict[str, Any], reason: str
) -> None:
    database = tmp_path / "limes.db"
    database.write_text("precious")
    config(**{"database": {"url": f"sqlite:///{database}"}, **parts})
    with pytest.raises(StartupError, match=f"^{reason}"):
        prepare(fresh=True)
    assert database.read_text() == "precious"


def test_a_port_in_use_leaves_no_trace(config: Callable[..., None], tmp_path: Path) -> None:
    """Neither a folder, nor is anything deleted: the process that uses the port may use the data as well."""
    state = tmp_path / "state.json"
    state.write_text("{}")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        params = {"area": "storage", "state_file": str(state), "resources": {"capacity": {"unit": "GiB", "quota": 0}}}
        services = [{"service_type": "storage", "type": "static", "params": params}]
        config(database={"url": f"sqlite:///{tmp_path}/var/limes.db"}, services=services, api={"listen": listen})
        with pytest.raises(StartupError, match=r"Address already in use; .* \(LIMES_API_LISTEN_ADDRESS\)$"):
            prepare(fresh=True)
    assert state.exists()
    assert not (tmp_path / "var").exists()


def test_sample_identities_stay_on_this_machine(config: Callable[..., None], tmp_path: Path) -> None:
    config(database={"url": f"sqlite:///{tmp_path}/limes.db"}, api={"listen": ":8080"})
    with pytest.raises(StartupError, match=r"^api\.listen: .* only served on loopback, not on 0\.0\.0\.0:8080"):
        prepare()
