"""All real processes on PostgreSQL: both APIs with two workers, two collectors, and `limes metrics`."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import requests
import yaml

from limes.app.commands.serve.sample_data import SampleData
from limes.app.commands.serve.supervisor import Supervisor
from limes.app.settings import load
from tests.support.limes_process import limes_server, run_limes
from tests.support.processes import ServerProcess, free_port
from tests.support.prometheus import CONFIG

MAIL = {
    "sinks": ["smtp"],
    "smtp": {"host": "127.0.0.1", "security": "none", "sender": "limes@example.com"},
    "mail": {"recipients": [{"addresses": ["ops@example.com"], "kinds": ["request_opened"]}]},
}
"""So that its metrics are there. Nobody asks for quota, so nothing is sent."""


class Cloud:
    """The quickstart's cloud, but with a database server, more workers, a second collector and `limes metrics`."""

    def __init__(self, folder: Path, database_url: str) -> None:
        self.folder = folder
        self.database_url = database_url
        document = yaml.safe_load((CONFIG / "quickstart.yaml").read_text())
        document["serve"]["sample_data"] = str(CONFIG / "sample-data.yaml")
        text = yaml.safe_dump(document)
        for port in ("8080", "8778", "8081"):
            text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{free_port()}")
        document = yaml.safe_load(text)
        document["database"]["url"] = database_url
        document["api"]["workers"] = document["placement"]["workers"] = 2
        document["collector"] |= {"poll_interval": 0.2, "data_metrics": {"expose": True}}  # which nobody scrapes
        document["metrics"] = {"listen": f"127.0.0.1:{free_port()}", "max_age": 0}
        document["notifications"] = MAIL
        document["audit"] = {"sinks": "log", "log": {"path": str(folder / "audit.log")}}
        self.targets = {
            "limes-api": [document["api"]["listen"]],
            "limes-placement": [document["placement"]["listen"]],
            "limes-collector": [document["collector"]["listen"], f"127.0.0.1:{free_port()}"],
            "limes-metrics": [document["metrics"]["listen"]],
        }
        self.config = folder / "limes.yaml"
        self.config.write_text(yaml.safe_dump(document))
        self.env = {"LIMES_CONFIG": str(self.config)}
        self.processes: dict[str, ServerProcess] = {}

    def command(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Runs `limes` and waits for it."""
        return run_limes(*arguments, cwd=self.folder, **(self.env | env))

    def start(self) -> None:
        """Starts all, the one that the others ask first."""
        upgraded = self.command("db", "upgrade")
        assert upgraded.returncode == 0, upgraded.stderr
        for name in ("placement", "api", "metrics"):
            self._start(name, name, self.targets[f"limes-{name}"][0])
        self.sample = SampleData(load(self.config, {}), Supervisor(self.folder))
        self.sample.load_placement()
        self.start_collectors()

    def start_collectors(self) -> None:
        """Starts both."""
        first, second = self.targets["limes-collector"]
        self._start("collect", "collect", first)
        self._start("second", "collect", second, {"LIMES_COLLECTOR_METRICS_LISTEN_ADDRESS": second})

    def _start(self, name: str, command: str, listen: str, env: Mapping[str, str] = MappingProxyType({})) -> None:
        log = self.folder / f"{name}.log"
        server = limes_server(command, listen=listen, log=log, cwd=self.folder, **(self.env | env))
        self.processes[name] = server.start()

    def stop(self) -> None:
        """Stops all."""
        for process in self.processes.values():
            process.stop(timeout=200)

    def call(self, method: str, path: str, *, job: str = "limes-api", **options: Any) -> requests.Response:
        """A request of the cloud's admin."""
        headers = {"X-Auth-Token": "cloud-admin", "OpenStack-API-Version": "placement 1.39"}
        url = f"http://{self.targets[job][0]}{path}"
        return requests.request(method, url, headers=headers, timeout=200, **options)
