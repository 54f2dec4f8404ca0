"""The alert rules as promtool sees them, and the dashboard's form."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.prometheus import CONFIG, RULE_FILES, find_program

RULES = CONFIG / "prometheus"
ALERTS = RULES / "alerts.yaml"
TESTS = Path(__file__).parent / "alerts_test.yaml"


def promtool(*arguments: str | Path) -> str:
    result = subprocess.run(
        [find_program("promtool"), *map(str, arguments)], capture_output=True, text=True, timeout=200, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def rules(file: str = "alerts.yaml") -> list[Any]:
    return [rule for group in yaml.safe_load((RULES / file).read_text())["groups"] for rule in group["rules"]]


@pytest.mark.parametrize("file", RULE_FILES)
def test_the_rules_are_well_formed(file: str) -> None:
    assert f"{len(rules(file))} rules found" in promtool("check", "rules", RULES / file)


def test_the_example_configuration_is_well_formed(tmp_path: Path) -> None:
    for name in (*RULE_FILES, "scrape.yaml"):
        shutil.copy(RULES / name, tmp_path)
    promtool("check", "config", tmp_path / "scrape.yaml")


def test_the_rules_fire_when_they_should_and_only_then(tmp_path: Path) -> None:
    shutil.copy(ALERTS, tmp_path)
    shutil.copy(TESTS, tmp_path)
    promtool("test", "rules", tmp_path / TESTS.name)


def test_every_alert_is_tested_and_says_what_to_do() -> None:
    disaster = yaml.safe_load(TESTS.read_text())["tests"][1]
    fired = {sample["labels"].split('"')[1] for sample in disaster["promql_expr_test"][0]["exp_samples"]}
    assert fired == {rule["alert"] for rule in rules()}
    for rule in rules():
        assert set(rule["annotations"]) == {"summary", "description"}
        assert rule["labels"]["severity"] in ("critical", "warning", "info")


def test_the_dashboard_is_what_grafana_imports() -> None:
    dashboard = json.loads((CONFIG / "grafana" / "limes.json").read_text())
    assert dashboard["uid"] == "limes"
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken, f"{panel['title']} lies on another panel"
        assert max(x for x, _ in cells) < 24
        taken |= cells
        if panel["type"] != "row":
            assert panel["targets"]
            assert panel["description"]
            assert all(target["datasource"]["uid"] == "${datasource}" for target in panel["targets"])
    assert [variable["name"] for variable in dashboard["templating"]["list"]] == ["datasource", "service", "domain"]
