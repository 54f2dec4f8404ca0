"""Loading the sample data, where the collector is slower than a real one usually is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from limes.commands.serve.sample_data import SampleData
from limes.commands.serve.supervisor import Supervisor
from limes.settings import load
from tests.support.recorded import Asked, RecordedService

ROOT = Path(__file__).parents[2]
DOMAINS = {"acme": ["shop", "shop-staging", "analytics"], "university": ["physics", "library"]}


@pytest.fixture
def slow_limes() -> Iterator[RecordedService]:
    """Answers as a Limes whose collector finds the projects of the last domain only while they are asked for."""
    asked: list[str] = []

    def domains(request: Asked) -> tuple[int, dict[str, Any]]:
        return 200, {"domains": [{"name": name, "id": name} for name in DOMAINS]}

    def projects(request: Asked, domain: Any) -> tuple[int, dict[str, Any]]:
        asked.append(domain)
        known = DOMAINS[domain] if domain == "acme" or asked.count(domain) > 2 else []
        return 200, {"projects": [{"name": name, "id": name} for name in known]}

    cluster = {"cluster": {"services": [{"resources": [{"capacity": 1}]}]}}
    service = RecordedService(
        {
            ("POST", "/v1/domains/discover"): lambda request: (204, None),
            ("GET", "/v1/domains"): domains,
            ("GET", "/v1/domains/([a-z]+)/projects"): projects,
            ("PUT", "/v1/domains/.*"): lambda request: (202, None),
            ("GET", "/v1/clusters/current"): lambda request: (200, cluster),
        }
    )
    yield service
    service.close()


def test_quotas_wait_until_all_projects_are_found(slow_limes: RecordedService, tmp_path: Path) -> None:
    settings = load(ROOT / "config" / "quickstart.yaml", {})
    listen = slow_limes.url.removeprefix("http://")
    settings = settings.model_copy(update={"api": settings.api.model_copy(update={"listen": listen})})
    SampleData(settings, Supervisor(tmp_path)).load_quotas()
    assert slow_limes.count("PUT", "/v1/domains/university/projects/library") == 1
