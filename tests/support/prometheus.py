"""Prometheus' own programs, from Debian's package `prometheus` or from $PROMETHEUS_BIN, and a server of them."""

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import requests
import yaml

from tests.setup.needs import PROMETHEUS
from tests.support.machine import MACHINE, require
from tests.support.processes import ServerProcess, free_port, http_answers

CONFIG = Path(__file__).parents[2] / "config"
RULE_FILES = ("recording.yaml", "alerts.yaml")
OUR_NAME = re.compile(r"\b(?:limes|httpmux)_\w+")
"""A metric of ours in a query."""


def find_program(name: str) -> str:
    """The path of `prometheus` or `promtool`. Skips the test where there is none."""
    require(PROMETHEUS)
    return str(MACHINE.program(name, "PROMETHEUS_BIN"))


def _quicken(rules: str, factor: int) -> str:
    """The rules with shorter times: pauses, ranges, and ages that are compared with so many seconds."""
    rules = re.sub(r"(?<=for: )(\d+)([mh])$", lambda found: _shorter(found, factor), rules, flags=re.MULTILINE)
    rules = re.sub(r"(?<=\[)(\d+)([mhd])(?=\])", lambda found: _shorter(found, factor), rules)
    return re.sub(r"(?<=_seconds\) > )\d+", lambda found: str(int(found[0]) / factor), rules) if factor > 1 else rules


def _shorter(found: re.Match[str], factor: int) -> str:
    return f"{int(found[1]) * {'m': 60, 'h': 3600, 'd': 86400}[found[2]] // factor}s"


class PrometheusServer:
    """A Prometheus with our configuration and our rules that scrapes the given `HOST:PORT` every second."""

    def __init__(self, folder: Path, targets: Mapping[str, Sequence[str]], quicker: int = 1) -> None:
        """`targets` are addresses by the name of the job. All times of the rules are divided by `quicker`."""
        for name in RULE_FILES:
            (folder / name).write_text(_quicken((CONFIG / "prometheus" / name).read_text(), quicker))
        config = yaml.safe_load((CONFIG / "prometheus" / "scrape.yaml").read_text())
        for job in config["scrape_configs"]:
            job |= {"scrape_interval": "1s", "scrape_timeout": "1s"}
            job["static_configs"] = [{"targets": list(targets[job["job_name"]])}]
        config["global"] = {"evaluation_interval": "1s"}
        file = folder / "prometheus.yaml"
        file.write_text(yaml.safe_dump(config))
        self.url = f"http://127.0.0.1:{free_port()}"
        self.process = ServerProcess(
            [
                find_program("prometheus"),
                f"--config.file={file}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address={self.url.removeprefix('http://')}",
            ],
            ready=http_answers(f"{self.url}/-/ready"),
            log=folder / "prometheus.log",
        )

    def wait_until_gone(self, expression: str, timeout: float = 200.0) -> None:
        """Returns as soon as the expression has no sample."""
        deadline = time.monotonic() + timeout
        while found := self.query(expression):
            assert time.monotonic() < deadline, f"still there after {timeout:.0f} s: {found}"
            time.sleep(0.3)

    def get(self, path: str, **params: str) -> Any:
        """The `data` that a call of its API answers."""
        answer = requests.get(f"{self.url}/api/v1/{path}", params=params, timeout=200).json()
        assert answer["status"] == "success", f"{path} {params}: {answer}"
        return answer["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The samples of an expression, now."""
        return list(self.get("query", query=expression)["result"])

    def wait_for(self, expression: str, timeout: float = 200.0) -> list[dict[str, Any]]:
        """The samples, as soon as there are any."""
        deadline = time.monotonic() + timeout
        while not (found := self.query(expression)):
            assert time.monotonic() < deadline, f"nothing in {timeout:.0f} s: {expression}"
            time.sleep(0.3)
        return found
