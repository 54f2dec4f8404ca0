"""`limes config policy`: the shipped rules, and those of a configuration."""

import json
from pathlib import Path

import pytest
import yaml

from limes.app.cli import main

POLICY = '{"cluster:show": "role:auditor", "project:edit": "rule:our_admins", "our_admins": "role:quota_admin"}'
CONFIG = """
availability_zones: [az-one]
discovery: {method: static, params: {domains: []}}
services: [{service_type: shared, type: static, params: {resources: {things: {}}}}]
identity: {method: sample, sample: {}}
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration with a policy file for the API of Limes."""
    monkeypatch.setenv("LIMES_CONFIG", "")
    path = tmp_path / "limes.yaml"
    path.write_text(f"{CONFIG}api: {{policy_file: policy.yaml}}\n")
    (tmp_path / "policy.yaml").write_text(POLICY)
    return path


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["config", "policy", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_the_shipped_rules_are_comments(capsys: pytest.CaptureFixture[str], config: Path) -> None:
    text = said(capsys)
    assert '#"cluster:show": ' in text
    assert all(line.startswith("#") for line in text.splitlines() if line)
    assert "in_force" not in json.loads(said(capsys, "--json"))[0]


def test_the_rules_of_a_configuration(capsys: pytest.CaptureFixture[str], config: Path) -> None:
    text = said(capsys, "--config", config)
    assert yaml.safe_load(text) == yaml.safe_load(POLICY)
    assert '# default: "' in text
    assert '#"domain:show": ' in text
    assert text.startswith(f"# api.policy_file is {config.with_name('policy.yaml')}: ")


def test_json_has_default_and_what_is_in_force(capsys: pytest.CaptureFixture[str], config: Path) -> None:
    rules = {rule["name"]: rule for rule in json.loads(said(capsys, "--config", config, "--json"))}
    assert rules["cluster:show"]["in_force"] == "role:auditor" != rules["cluster:show"]["check"]
    assert rules["domain:show"]["in_force"] == rules["domain:show"]["check"]


def test_a_configuration_without_a_policy_file(capsys: pytest.CaptureFixture[str], config: Path) -> None:
    text = said(capsys, "placement", "--config", config)
    assert text.startswith("# placement.policy_file is not set: the shipped rules are in force\n")
    assert yaml.safe_load(text) is None


def test_a_policy_file_that_is_none(capsys: pytest.CaptureFixture[str], config: Path) -> None:
    config.with_name("policy.yaml").write_text("[not, a, mapping]")
    assert main(["config", "policy", "--config", str(config)]) == 1
    assert "policy file" in capsys.readouterr().err
