"""`limes metrics`: the figures of the cloud in a process of its own, with and without collectors."""

import gzip
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.support.databases import MigratedUrlFactory
from tests.support.limes_process import limes_server, run_here, run_limes
from tests.support.processes import ServerProcess, free_port

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


def metrics(folder: Path, listen: str) -> ServerProcess:
    """A process of `limes metrics`, after what a collector does, which has ended then."""
    config = folder / "limes.yaml"
    collected = run_here("collect", "--once", "--config", config)
    assert collected.returncode == 0, collected.stderr
    return limes_server("metrics", "--config", config, listen=listen, log=folder / "metrics.log")


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


def test_figures_without_any_collector(configuration: dict[str, Any], tmp_path: Path) -> None:
    listen = configuration["metrics"]["listen"]
    with metrics(tmp_path, listen):
        text = scrape(listen).decode()
        check_figures(text)
        assert gzip.decompress(scrape(listen, **{"Accept-Encoding": "gzip"})).startswith(b"# HELP")
        check_that_changes_are_seen(listen, configuration["database"]["url"])
        an_address_in_use_is_one_clear_line(tmp_path, listen)


def check_figures(text: str) -> None:
    found = values(text)
    assert found["limes_project_usage", "capacity"] == 7
    assert ("limes_project_usage", "files") not in found, "it is 0, which is left out"
    assert ("limes_project_quota", "capacity") not in found
    names = {family.name for family in text_string_to_metric_families(text)}
    assert {"limes_tasks_due", "limes_alerts", "limes_inconsistencies", "limes_oldest_scraped_at"} <= names
    assert "limes_resource_scrapes" not in names, "which counts what a collector does"


def check_that_changes_are_seen(listen: str, url: str) -> None:
    """With the next scrape."""
    engine = Engine(url)
    engine.atomic(lambda: engine.execute("UPDATE project_resources SET quota = 30 WHERE usage = 7"))
    engine.close()
    assert values(scrape(listen).decode())["limes_project_quota", "capacity"] == 30


def an_address_in_use_is_one_clear_line(folder: Path, listen: str) -> None:
    done = run_limes("metrics", "--config", folder / "limes.yaml", cwd=folder)
    assert done.returncode == 1
    assert f"metrics.listen: cannot listen on {listen}" in done.stderr
    assert "Traceback" not in done.stderr


def test_single_projects_can_be_left_out(configuration: dict[str, Any], tmp_path: Path) -> None:
    configuration["metrics"]["projects"] = False
    (tmp_path / "limes.yaml").write_text(yaml.safe_dump(configuration))
    listen = configuration["metrics"]["listen"]
    with metrics(tmp_path, listen):
        text = scrape(listen).decode()
    names = {line.partition("{")[0] for line in text.splitlines() if not line.startswith("#")}
    assert {"limes_domain_usage_per_az", "limes_cluster_capacity", "limes_tasks_due"} <= names
    assert [name for name in names if name.startswith("limes_project_")] == []
