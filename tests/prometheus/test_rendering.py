"""The dashboards as Grafana's own components draw them, with the figures of a real cloud: what operators see."""

import json
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.e2e.browser import watched_page
from tests.prometheus.busy import PROJECT, eventually
from tests.prometheus.cloud import Cloud
from tests.prometheus.dashboards import FILES
from tests.prometheus.grafana import ORIGIN, open_grafana, require_grafana
from tests.prometheus.rendering import ask, has_numbers, problems, show
from tests.support.prometheus import PrometheusServer

pytestmark = [
    pytest.mark.long,
    pytest.mark.browser,
    pytest.mark.timeout(900),
]  # the first one installs Grafana's packages
NODE = "/resource_providers/c0000000-0000-4000-8000-000000000001"
CORES = {"service_type": "compute", "resource_name": "cores", "availability_zone": "az-one"}
Ask = Callable[[Any], Any]


@pytest.fixture(scope="module")
def bundle() -> Path:
    """The page of Grafana's components."""
    return require_grafana()


@pytest.fixture(scope="module")
def full_cloud(bundle: Path, browser: Browser, busy_cloud: Cloud) -> Cloud:
    """With quota of all projects and a commitment for a zone."""
    busy_cloud.sample.load_quotas()
    body = {"commitment": {**CORES, "amount": 10, "duration": "1 year"}}
    answer = busy_cloud.call("POST", f"{PROJECT}/commitments/new", json=body)
    assert answer.status_code in (201, 202), answer.text
    return busy_cloud


@pytest.fixture(scope="module")
def ask_all(full_cloud: Cloud, prometheus: PrometheusServer) -> Ask:
    """Asks Prometheus for a dashboard until there is something to draw in each panel."""

    def ask_until_complete(document: Any) -> Any:
        deadline = time.monotonic() + 200
        while True:
            asked = ask(document, prometheus, {})
            if not (lacking := [panel["title"] for panel in asked["panels"] if not has_numbers(panel)]):
                return asked
            assert time.monotonic() < deadline, f"nothing to draw in {lacking}"
            name = f"compute-1.az-one at {time.time()}"  # Placement's index follows a change once somebody asks
            assert full_cloud.call("PUT", NODE, job="limes-placement", json={"name": name}).ok
            time.sleep(0.5)

    return ask_until_complete


@pytest.fixture
def page(bundle: Path, browser: Browser) -> Iterator[Page]:
    """The page, without a dashboard. Nothing may be written to the browser's console."""
    with watched_page(browser, ORIGIN, viewport={"width": 1640, "height": 900}) as watched:
        open_grafana(watched.page, bundle)
        yield watched.page


def found(asked: Any, page: Page) -> dict[str, list[str]]:
    """The problems of each panel that has any, by its title."""
    seen = show(page, asked)
    panels = [panel for panel in asked["panels"] if panel["type"] != "row"]
    judged = {panel["title"]: list(problems(panel, seen[panel["id"]])) for panel in panels}
    assert len(judged) == len(panels)
    return {title: lines for title, lines in judged.items() if lines}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_panel_can_be_read(file: Path, page: Page, ask_all: Ask, tmp_path: Path) -> None:
    asked = ask_all(json.loads(file.read_text()))
    problems_found = found(asked, page)
    page.screenshot(path=tmp_path / f"{file.stem}.png", full_page=True)
    assert problems_found == {}


BREAKAGES: dict[str, tuple[dict[str, Any], str]] = {
    "a metric that does not exist": ({"expr": "limes_no_such_metric"}, "No data"),
    "a label that does not exist": ({"legendFormat": "{{service}} {{no_such_label}} {{resource}}"}, "no_such_label"),
    "a label that is misspelt": ({"legendFormat": "{{service}} {{resource}"}, "not filled in"),
    "a label that is missing": ({"legendFormat": "{{service}}"}, "the same name"),
    "a plain number for a share": ({"unit": "short"}, "'percentunit'"),
    "a unit that does not exist": ({"unit": "percents"}, "'percentunit'"),
}


def test_what_is_broken_is_found(page: Page, ask_all: Ask, prometheus: PrometheusServer) -> None:
    (file,) = [file for file in FILES if file.stem == "limes-capacity"]
    document = json.loads(file.read_text())
    ask_all(document)
    (good,) = [panel for panel in document["panels"] if panel["title"] == "Used share"]
    for number, (title, (change, _)) in enumerate(BREAKAGES.items(), 1000):
        panel = deepcopy(good) | {"id": number, "title": title}
        for key, value in change.items():
            (panel["fieldConfig"]["defaults"] if key == "unit" else panel["targets"][0])[key] = value
        document["panels"].append(panel)
    result = found(ask(document, prometheus, {}), page)
    assert result.keys() == BREAKAGES.keys()
    assert [title for title, (_, says) in BREAKAGES.items() if says not in " ".join(result[title])] == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_variables_choose(file: Path, ask_all: Ask, prometheus: PrometheusServer) -> None:
    """Each value of each variable, and two of them at once: panels show those, and nothing else."""
    document = json.loads(file.read_text())
    ask_all(document)
    for variable in document["templating"]["list"]:
        if variable["type"] != "query":
            continue
        series, _, label = variable["query"]["query"].removeprefix("label_values(").removesuffix(")").rpartition(", ")
        metric = series.partition("{")[0]
        values = eventually(
            lambda metric=metric, label=label: prometheus.get(f"label/{label}/values", **{"match[]": metric})
        )
        assert len(values) > 1
        for chosen in (*values, "|".join(values)):
            asked = ask(document, prometheus, {variable["name"]: f"({chosen})"})
            assert any(panel["series"] for panel in asked["panels"])
            shown = {
                one["labels"].get(label)
                for panel in asked["panels"]
                for one in panel["series"]
                if f"${variable['name']}" in json.dumps(panel["targets"])
            }
            assert shown - {None, ""} <= set(chosen.split("|")), variable["name"]
