"""The three HTTP processes as in production, with sample identities and an SQLite file."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.support.limes_process import MODULES, ROOT, limes_server, run_here
from tests.support.processes import ServerProcess, free_port

TOKEN = "root-token"
DOMAIN = "d1"
PROJECTS = 60

_SAMPLE = {
    "domains": [{"name": "one", "id": DOMAIN}],
    "projects": [{"name": "boss", "domain": "one", "id": "boss"}],
    "users": [
        {
            "name": "boss",
            "domain": "one",
            "assignments": [{"project": "boss", "roles": ["admin", "service", "cloud_resource_admin"]}],
        }
    ],
    "tokens": [{"token": TOKEN, "user": "boss", "project": "boss"}],
}


@dataclass(frozen=True)
class Kind:
    """One of the processes: how it is started, and what to ask it for."""

    name: str
    arguments: tuple[str, ...]
    get: str
    """A path that needs a token."""
    put: str
    """A path that takes a body."""
    large: str
    """A path with a large answer that costs little."""


_SCRIPT = max((ROOT / "limes" / "ui" / "static" / "assets").iterdir(), key=lambda file: file.stat().st_size)
API = Kind("api", ("api",), "/v1/domains", f"/v1/domains/{DOMAIN}", f"/ui/assets/{_SCRIPT.name}")
PLACEMENT = Kind("placement", ("placement",), "/resource_providers", "/allocations/c1", "/traits")
LIQUID = Kind("liquid", ("liquid", "storage"), "/v1/info", "/v1/projects/p1/quota", "/v1/info")
KINDS = (API, PLACEMENT, LIQUID)


def configuration(folder: Path, listen: str, **clients: Any) -> dict[str, Any]:
    """Enough for all three; each of them listens there."""
    resources = {f"resource-{number}": {"quota": "unlimited", "usage": number} for number in range(500)}
    projects = [{"id": f"p{number}", "name": f"p{number}", "parent_id": DOMAIN} for number in range(PROJECTS)]
    return {
        "availability_zones": ["az-one"],
        "discovery": {"method": "static", "params": {"domains": [{"id": DOMAIN, "name": "one", "projects": projects}]}},
        "services": [{"service_type": "storage", "type": "static", "params": {"area": "x", "resources": resources}}],
        "database": {"url": f"sqlite:///{folder}/limes.db"},
        "api": {"listen": listen, "workers": 2, "threads": 4, "clients": clients},
        "placement": {"listen": listen, "workers": 2, "threads": 4, "clients": clients},
        "liquid": {"listen": listen, "workers": 2, "threads": 4, "clients": clients},
        "identity": {"method": "sample", "sample": _SAMPLE},
    }


@contextmanager
def running(kind: Kind, folder: Path, path: str = "", **clients: Any) -> Iterator[tuple[int, ServerProcess]]:
    """The port and the process. `path` is where Python looks for modules first."""
    port = free_port()
    file = folder / "limes.yaml"
    file.write_text(yaml.safe_dump(configuration(folder, f"127.0.0.1:{port}", **clients)))
    assert run_here("db", "upgrade", "--config", file).returncode == 0
    with sqlite3.connect(folder / "limes.db") as database:
        names = [[f"CUSTOM_TRAIT_WITH_A_LONG_NAME_{number}"] for number in range(2000)]
        database.executemany("INSERT INTO placement_traits (name, updated) VALUES (?, 0)", names)
    modules = f"{path}:{MODULES['PYTHONPATH']}".removeprefix(":")
    log = folder / f"{kind.name}.log"
    with limes_server(
        *kind.arguments, listen=f"127.0.0.1:{port}", log=log, LIMES_CONFIG=str(file), PYTHONPATH=modules
    ) as process:
        yield port, process
