"""Loading the sample data, where the collector is slower than a real one usually is."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from limes.app.commands.serve.sample_data import SampleData
from limes.app.commands.serve.supervisor import Supervisor
from limes.app.settings import load
from limes.kernel.errors import StartupError
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

    resources = [{"name": "cores", "quota_distribution_model": "autogrow"}, {"name": "ram", "capacity": 1}]
    cluster = {"cluster": {"services": [{"type": "compute", "resources": resources}]}}
    capacitors = {"scrape_status": {"capacitors": [{"name": "placement", "checked_at": 1}]}}
    quotas: dict[str, Any] = {}

    def put(request: Asked) -> tuple[int, Any]:
        quotas[request.path] = request.body
        return 202, None

    def get(request: Asked) -> tuple[int, Any]:
        kind = "project" if "/projects/" in request.path else "domain"
        return 200, quotas.get(request.path, {kind: {"services": []}})

    service = RecordedService(
        {
            ("POST", "/v1/domains/discover"): lambda request: (204, None),
            ("GET", "/v1/domains"): domains,
            ("GET", "/v1/domains/([a-z]+)/projects"): projects,
            ("PUT", "/v1/domains/.*"): put,
            ("GET", "/v1/domains/[a-z]+(?:/projects/[a-z-]+)?"): get,
            ("GET", "/v1/admin/scrape-status"): lambda request: (200, capacitors),
            ("GET", "/v1/clusters/current"): lambda request: (200, cluster),
        }
    )
    yield service
    service.close()


@pytest.fixture
def sample(slow_limes: RecordedService, tmp_path: Path) -> SampleData:
    settings = load(ROOT / "config" / "quickstart.yaml", {})
    listen = slow_limes.url.removeprefix("http://")
    settings = settings.model_copy(update={"api": settings.api.model_copy(update={"listen": listen})})
    return SampleData(settings, Supervisor(tmp_path))


def test_quotas_wait_until_all_projects_are_found(slow_limes: RecordedService, sample: SampleData) -> None:
    """A resource without capacity, cores here, is not waited for, and quota that follows usage is not set."""
    sample.load_quotas()
    assert slow_limes.count("PUT", "/v1/domains/university/projects/library") == 1
    names = {
        one["name"]
        for asked in slow_limes.asked
        if asked.method == "PUT"
        for service in next(iter(asked.body.values()))["services"]
        for one in service["resources"]
    }
    assert names == {"ram", "local_disk", "capacity"}


def puts(limes: RecordedService) -> Counter[str]:
    return Counter(asked.path for asked in limes.asked if asked.method == "PUT")


def test_a_second_start_keeps_what_there_is(slow_limes: RecordedService, sample: SampleData) -> None:
    sample.load_quotas()
    sample.load_quotas()
    assert set(puts(slow_limes).values()) == {1}
    assert len(puts(slow_limes)) == 7


def test_a_second_start_goes_on_where_the_first_one_failed(slow_limes: RecordedService, sample: SampleData) -> None:
    last = ("PUT", "/v1/domains/university/projects/physics")
    slow_limes.routes = {last: lambda request: (500, None), **slow_limes.routes}
    with pytest.raises(StartupError):
        sample.load_quotas()
    del slow_limes.routes[last]
    sample.load_quotas()
    assert {path for path, count in puts(slow_limes).items() if count > 1} == {last[1]}
    assert len(puts(slow_limes)) == 7
