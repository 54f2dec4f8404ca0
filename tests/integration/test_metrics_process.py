"""`limes metrics`: the figures of the cloud in a process of its own, with and without collectors."""

import gzip
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.integration.whole.house import ROOT
from tests.support.databases import MigratedUrlFactory
from tests.support.processes import ServerProcess, free_port, http_answers

DOMAIN = {"id": "d", "name": "acme", "projects": [{"id": "p", "name": "shop", "parent_id": "d"}]}
RESOURCES = {"capacity": {"usage": 7, "quota": 20}, "files": {"usage": 0, "quota": 0}}


@pytest.fixture
def configuration(database_url_with: MigratedUrlFactory, tmp_path: Path) -> dict[str, Any]:
    document = {
        "availability_zones": ["az-one"],
        "database": {"url": database_url_with(limes_migrations)},
        "discovery": {"method": "static", "params": {"domains": [DOMAIN]}},
        "services": [{"service_type": "s", "type": "static", "params": {"area": "s", "resources": RESOURCES}}],
        "collector": {"listen": f"127.0.0.1:{free_port()}"},
        "metrics": {"listen": f"127.0.0.1:{free_port()}", "skip_zero": True, "max_age": 0},
        "identity": {"method": "sample", "sample": {}},
    }
    (tmp_path / "limes.yaml").write_text(yaml.safe_dump(document))
    return document


def start(folder: Path, number: int, listen: str) -> ServerProcess:
    """A process of `limes metrics`."""
    return ServerProcess(
        [sys.executable, "-m", "limes", "metrics", "--config", folder / "limes.yaml"],
        ready=http_answers(f"http://{listen}/healthcheck"),
        log=folder / f"metrics-{number}.log",
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'plugins'}"},
        cwd=folder,
    )


def collect(folder: Path) -> None:
    """What a collector does, which has ended then."""
    command = [sys.executable, "-m", "limes", "collect", "--once", "--config", folder / "limes.yaml"]
    env = {"PYTHONPATH": f"{ROOT}:{ROOT / 'plugins'}", "PATH": ""}
    done = subprocess.run(list(map(str, command)), env=env, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def scrape(listen: str, **headers: str) -> bytes:
    request = urllib.request.Request(f"http://{listen}/metrics", headers=headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 200
        return bytes(answer.read())


def values(text: str) -> dict[tuple[str, str], float]:
    """Of each series with a resource but those by availability zone. None may be there twice."""
    found: dict[tuple[str, str], float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if "resource" in sample.labels and "availability_zone" not in sample.labels:
                key = (sample.name, sample.labels["resource"])
                assert key not in found
                found[key] = sample.value
    return found


@pytest.fixture
def running(configuration: dict[str, Any], tmp_path: Path) -> Iterator[str]:
    listen = configuration["metrics"]["listen"]
    collect(tmp_path)
    with start(tmp_path, 0, listen):
        yield listen


def test_figures_are_there_without_any_collector(running: str) -> None:
    text = scrape(running).decode()
    found = values(text)
    assert found["limes_project_usage", "capacity"] == 7
    assert ("limes_project_usage", "files") not in found, "it is 0, which is left out"
    names = {family.name for family in text_string_to_metric_families(text)}
    assert {"limes_tasks_due", "limes_alerts", "limes_inconsistencies", "limes_oldest_scraped_at"} <= names
    assert "limes_resource_scrapes" not in names, "which counts what a collector does"
    assert gzip.decompress(scrape(running, **{"Accept-Encoding": "gzip"})).startswith(b"# HELP")


def test_what_changes_is_seen_with_the_next_scrape(running: str, configuration: dict[str, Any]) -> None:
    assert ("limes_project_quota", "capacity") not in values(scrape(running).decode())
    engine = Engine(configuration["database"]["url"])
    engine.atomic(lambda: engine.execute("UPDATE project_resources SET quota = 30 WHERE usage = 7"))
    engine.close()
    assert values(scrape(running).decode())["limes_project_quota", "capacity"] == 30


def test_single_projects_can_be_left_out(configuration: dict[str, Any], tmp_path: Path) -> None:
    configuration["metrics"]["projects"] = False
    (tmp_path / "limes.yaml").write_text(yaml.safe_dump(configuration))
    collect(tmp_path)
    with start(tmp_path, 1, configuration["metrics"]["listen"]):
        text = scrape(configuration["metrics"]["listen"]).decode()
    names = {line.partition("{")[0] for line in text.splitlines() if not line.startswith("#")}
    assert {"limes_domain_usage_per_az", "limes_cluster_capacity", "limes_tasks_due"} <= names
    assert [name for name in names if name.startswith("limes_project_")] == []


def test_an_address_in_use_is_one_clear_line(running: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "limes", "metrics", "--config", tmp_path / "limes.yaml"]
    env = {"PYTHONPATH": f"{ROOT}:{ROOT / 'plugins'}", "PATH": ""}
    done = subprocess.run(list(map(str, command)), env=env, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    assert f"metrics.listen: cannot listen on {running}" in done.stderr
    assert "Traceback" not in done.stderr
