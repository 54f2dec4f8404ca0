"""The capacitor `prometheus` against a real Prometheus that scrapes a page of ours."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import requests

from limes.backends import AZCapacity, BackendError, CapacityBackend, ConfigError, ResourceDef, ServiceDef, calls
from limes.backends.contract import BrokenCapacityContract, CapacityBackendContract
from limes.catalog.catalog import Catalog
from tests.backends.conftest import AZS, load_capacity
from tests.support.processes import ServerProcess, free_port, http_answers
from tests.support.prometheus import find_program
from tests.support.recorded import RecordedService

PAGE = b"""
cores{az="az-one",host="a"} 96
cores{az="az-one",host="b"} 32.9
cores{az="az-two",host="c"} 64
cores_used{az="az-one"} 12
broken NaN
"""
CATALOG = Catalog(AZS, [ServiceDef("compute", "compute", {name: ResourceDef(name) for name in ("cores", "ram")})])
CONFIG = """
scrape_configs:
  - job_name: page
    scrape_interval: 1s
    static_configs: [{targets: ["%s"]}]
"""


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("prometheus")
    page = RecordedService({("GET", "/metrics"): lambda request: (200, PAGE)}, content_type="text/plain")
    (folder / "prometheus.yaml").write_text(CONFIG % page.url.removeprefix("http://"))
    url = f"http://127.0.0.1:{free_port()}"
    options = [f"--storage.tsdb.path={folder}/data", f"--web.listen-address={url.removeprefix('http://')}"]
    process = ServerProcess(
        [find_program("prometheus"), f"--config.file={folder}/prometheus.yaml", *options],
        ready=http_answers(f"{url}/-/ready"),
        log=folder / "prometheus.log",
    )
    with process:
        deadline = time.monotonic() + 200
        while not requests.get(f"{url}/api/v1/query", {"query": "cores"}, timeout=200).json()["data"]["result"]:
            assert time.monotonic() < deadline, "Prometheus has not scraped the page"
            time.sleep(0.2)
        yield url
    page.close()


def load(url: str, queries: dict[Any, Any], **api: str) -> CapacityBackend:
    return load_capacity("prometheus", {"api": {"url": url, **api}, "queries": queries}).capacity["under-test"]


def capacity(backend: CapacityBackend) -> Mapping[str, Mapping[str, AZCapacity]]:
    return calls.report_capacity(backend, "under-test", CATALOG).services["compute"]


class TestPrometheus(CapacityBackendContract, BrokenCapacityContract):
    @pytest.fixture
    def backend(self, prometheus: str) -> CapacityBackend:
        return load(prometheus, {"compute": {"cores": "sum(cores)"}})

    @pytest.fixture
    def broken_backend(self) -> CapacityBackend:
        return load(f"http://127.0.0.1:{free_port()}", {"compute": {"cores": "sum(cores)"}})

    @pytest.fixture
    def catalog(self) -> Catalog:
        return CATALOG

    def test_one_number(self, backend: CapacityBackend) -> None:
        assert capacity(backend)["cores"]["any"] == AZCapacity(192)

    def test_a_scalar(self, prometheus: str) -> None:
        assert (
            capacity(load(prometheus, {"compute": {"ram": "scalar(sum(cores)) / 0.7"}}))["ram"]["any"].capacity == 275
        )

    def test_by_az(self, prometheus: str) -> None:
        query = {"query": "sum by (az) (cores)", "usage_query": "cores_used", "az_label": "az"}
        found = capacity(load(prometheus, {"compute": {"cores": query}}))["cores"]
        assert (found["az-one"], found["az-two"]) == (AZCapacity(128, 12), AZCapacity(64))

    @pytest.mark.parametrize(
        ("query", "message"),
        [
            ("cores", "more than one series for AZ 'any'; sum it up, or set az_label"),
            ({"query": "cores", "az_label": "az"}, "more than one series for AZ 'az-one'; sum it up by 'az'"),
            ({"query": "sum(cores)", "az_label": "az"}, "has no label 'az'"),
            ("no_such_metric", "'no_such_metric': the result is empty"),
            ("sum(cores", "Prometheus answered 'sum.cores' with 400: .*parse error"),
            ("max(broken)", "the result is NaN, expected a number from 0"),
            ("-sum(cores)", "the result is -192.9, expected a number from 0"),
            ("cores[1m]", "the result is a matrix, expected one value for each series"),
            ('"text"', "the result is a string"),
        ],
    )
    def test_what_is_no_capacity(self, prometheus: str, query: str | dict[str, str], message: str) -> None:
        with pytest.raises(BackendError, match=message):
            capacity(load(prometheus, {"compute": {"cores": query}}))


def test_credentials_are_sent_and_not_shown() -> None:
    proxy = RecordedService({("POST", "/api/v1/query"): lambda request: (401, b"<html>who are you?</html>")})
    try:
        for api in ({"token": "secret-token"}, {"username": "limes", "password": "secret-word"}):
            with pytest.raises(BackendError, match="with 401, and no JSON") as caught:
                capacity(load(proxy.url, {"compute": {"cores": "sum(cores)"}}, **api))
            assert "secret" not in str(caught.value)
        sent = [request.headers["Authorization"] for request in proxy.asked]
        assert sent == ["Bearer secret-token", "Basic bGltZXM6c2VjcmV0LXdvcmQ="]
    finally:
        proxy.close()


def test_params_are_checked() -> None:
    with pytest.raises(ConfigError) as caught:
        load("http://x", {"compute": {"cores": {"usage_query": "x"}}}, key="/k", username="limes")
    assert "capacitors[0].params.queries.compute.cores.query" in str(caught.value)
