"""The Limes API on the data set of the benches, in processes of its own."""

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from limes.catalog.catalog import Catalog, ResourceDef, ServiceDef
from limes.collector.sync_catalog import sync_catalog
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.bench.limes import data
from tests.support.limes import make_limes
from tests.support.processes import ServerProcess, children_of, free_port, http_answers

ROOT = Path(__file__).parents[3]
TOKEN = "bench-admin"


def prepare(database_url: str, size: data.Size = data.STANDARD) -> None:
    """Migrates and loads."""
    engine = Engine(database_url, statement_timeout=3600)
    limes_migrations.upgrade(engine)
    services = [
        ServiceDef(service, service, {name: ResourceDef(name) for name in data.resource_names(service)})
        for service in data.SERVICES
    ]
    sync_catalog(make_limes(engine, Catalog(data.AZS, services)))
    data.load(engine, size)
    engine.close()


def config(database_url: str) -> dict[str, Any]:
    """A configuration with static backends, so that only our own work is measured, and a free port."""
    return {
        "availability_zones": list(data.AZS),
        "discovery": {
            "method": "static",
            "params": {"domains": [{"id": "x", "name": "x", "projects": [{"id": "y", "name": "y", "parent_id": "x"}]}]},
        },
        "services": [
            {
                "service_type": service,
                "type": "static",
                "params": {"area": service, "resources": {name: {"quota": 0} for name in data.resource_names(service)}},
            }
            for service in data.SERVICES
        ],
        "resource_behavior": [{"resource": ".*", "commitment_durations": ["10 years"], "commitment_is_az_aware": True}],
        "database": {"url": database_url, "statement_timeout": 120},
        "api": {"listen": f"127.0.0.1:{free_port()}", "workers": 2, "threads": 4},
        "logging": {"level": "WARNING"},
        "identity": {
            "method": "sample",
            "sample": {
                "domains": [{"name": "bench"}],
                "projects": [{"name": "bench", "domain": "bench"}],
                "users": [
                    {
                        "name": "bench",
                        "domain": "bench",
                        "assignments": [{"project": "bench", "roles": ["cloud_resource_admin"]}],
                    }
                ],
                "tokens": [{"token": TOKEN, "user": "bench", "project": "bench"}],
            },
        },
    }


def worker_memory(pid: int) -> float:
    """The largest peak memory of a worker below `pid`, in MiB."""
    peaks = []
    for child in children_of(pid):
        status = Path(f"/proc/{child}/status").read_text()
        peaks.append(int(status.split("VmHWM:")[1].split()[0]) / 1024)
    return max(peaks, default=0.0)


@dataclass(frozen=True)
class RunningApi:
    """A running API."""

    port: int
    process: ServerProcess


@contextlib.contextmanager
def running_api(
    document: dict[str, Any], folder: Path, checkout: Path = ROOT, python: str = sys.executable
) -> Iterator[RunningApi]:
    """Starts the API of a checkout with this configuration, and stops it in the end."""
    file = folder / "limes.yaml"
    file.write_text(yaml.safe_dump(document))
    listen = document["api"]["listen"]
    process = ServerProcess(
        [python, "-m", "limes", "api", "--config", file],
        ready=http_answers(f"http://{listen}/healthcheck"),
        log=folder / "api.log",
        env={**os.environ, "PYTHONPATH": f"{checkout}:{checkout / 'plugins'}"},
        cwd=checkout,
    )
    with process:
        yield RunningApi(int(listen.rpartition(":")[2]), process)
