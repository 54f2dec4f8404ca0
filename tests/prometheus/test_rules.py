"""The rules as promtool sees them."""

import re
import shlex
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
RECORDING_TESTS = Path(__file__).parent / "recording_test.yaml"
NOT_SAID = {
    "LimesRequestsSlow": {"le"},
    "LimesPlacementIndexSlow": {"le"},
    "LimesQuotaOverridesIneffective": {"reason"},
    "LimesFiguresSlow": {"job"},
    "LimesHypervisorWithoutZone": {"hypervisor"},
}
"""Labels by which alerts add up, or that say the same as another one."""
RECORDED = re.compile(r"limes:[\w:]+")
"""A recording rule in a query."""


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


def test_recording_rules_give_what_they_should(tmp_path: Path) -> None:
    shutil.copy(RULES / "recording.yaml", tmp_path)
    shutil.copy(RECORDING_TESTS, tmp_path)
    promtool("test", "rules", tmp_path / RECORDING_TESTS.name)


def test_every_recording_rule_is_tested_and_described() -> None:
    names = {rule["record"] for rule in rules("recording.yaml")}
    expressions = [
        case["expr"]
        for test in yaml.safe_load(RECORDING_TESTS.read_text())["tests"]
        for case in test["promql_expr_test"]
    ]
    assert names == {name for expression in expressions for name in RECORDED.findall(expression)}
    page = (CONFIG.parent / "docs" / "metrics.md").read_text()
    assert [name for name in sorted(names) if f"| `{name}` |" not in page] == []


def test_every_alert_is_tested_and_says_what_to_do() -> None:
    disaster = yaml.safe_load(TESTS.read_text())["tests"][1]
    fired = {sample["labels"].split('"')[1] for sample in disaster["promql_expr_test"][0]["exp_samples"]}
    assert fired == {rule["alert"] for rule in rules()}
    for rule in rules():
        assert set(rule["annotations"]) == {"summary", "description", "runbook"}
        assert rule["labels"]["severity"] in ("critical", "warning", "info")


def runbooks() -> dict[str, str]:
    """The sections of the page, by their alerts."""
    sections = re.split(r"^### (\w+)\n", (CONFIG.parent / "docs" / "runbooks.md").read_text(), flags=re.MULTILINE)[1:]
    return dict(zip(sections[::2], sections[1::2], strict=True))


def test_every_alert_has_its_runbook() -> None:
    assert sorted(runbooks()) == sorted(rule["alert"] for rule in rules())
    for rule in rules():
        assert rule["annotations"]["runbook"] == f"docs/runbooks.md#{rule['alert'].lower()}"
        assert "\n1. " in runbooks()[rule["alert"]], f"{rule['alert']}: nothing to do?"


def test_runbooks_can_be_links(tmp_path: Path) -> None:
    """As the guide says it."""
    guide = (CONFIG.parent / "docs" / "guides" / "monitoring.md").read_text()
    (command,) = re.findall(r"^sed .*runbook_url.*$", guide, re.MULTILINE)
    shutil.copy(ALERTS, tmp_path)
    subprocess.run(shlex.split(command), cwd=tmp_path, check=True)
    promtool("check", "rules", tmp_path / ALERTS.name)
    document = yaml.safe_load((tmp_path / ALERTS.name).read_text())
    links = [rule["annotations"]["runbook_url"] for group in document["groups"] for rule in group["rules"]]
    assert links[0] == "https://docs.example.com/runbooks.html#limesprocessdown"
    assert len(links) == len(rules())


def test_every_alert_says_where_it_is() -> None:
    for rule in rules():
        labels = set(re.findall(r"\w+", " ".join(re.findall(r"\bby \(([^)]*)\)", rule["expr"])[:1])))
        said = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        assert labels - said <= NOT_SAID.get(rule["alert"], set()), rule["alert"]
