"""What can be wrong with configuration, policy, audit sinks and the metrics' folder."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from limes.kernel.findings import Finding, Level
from tests.doctor.patient import Patient


def test_all_is_well(patient: Patient) -> None:
    diagnosis = patient.examine()
    assert diagnosis.worst is Level.OK, diagnosis
    levels = {one.check: one.level.value for one in diagnosis.findings}
    assert levels["backends.service.storage"] == levels["backends.capacitor.racks"] == "ok"
    assert levels["keystone"] == levels["audit"] == "skipped"


def test_no_file(light_patient: Patient) -> None:
    light_patient.environ["LIMES_CONFIG"] = "/nowhere/limes.yaml"
    level, message, mend = light_patient.ailment("configuration")
    assert level == "problem"
    assert message.startswith("/nowhere/limes.yaml: there is no such configuration file")
    assert "limes config init" in mend
    assert light_patient.finding("database").level is Level.SKIPPED


def test_each_problem_of_the_file(light_patient: Patient) -> None:
    light_patient.document |= {"surprise": 1, "collector": {"threads": 0}}
    found = light_patient.findings("configuration")
    assert {one.message.partition(":")[0] for one in found} == {"surprise", "collector.threads"}
    assert all(one.mend.startswith(f"correct it in {light_patient.path}") for one in found)


def test_what_only_the_whole_shows(light_patient: Patient) -> None:
    light_patient.document["resource_behavior"] = [
        {"resource": "storage/.*", "scales_with": "compute/cores", "scaling_factor": 2}
    ]
    light_patient.document["api"] = {"listen": "0.0.0.0:8080"}
    messages = [one.message for one in light_patient.findings("configuration")]
    assert any("there is no service 'compute'" in one for one in messages)
    assert any("api.listen" in one for one in messages)
    assert light_patient.finding("backends").level is Level.SKIPPED


def test_secrets_that_everybody_can_read(light_patient: Patient) -> None:
    light_patient.document["database"]["password"] = "geheimnis"
    light_patient.write()
    assert [one.check for one in light_patient.findings("configuration")] == ["configuration.file"]
    light_patient.write = lambda: light_patient.path.chmod(0o644)
    level, message, mend = light_patient.ailment("configuration.secrets")
    assert (level, message) == ("warning", "everybody on this machine can read database.password")
    assert mend.startswith("chmod o-r ")


def test_a_variable_that_nothing_reads(light_patient: Patient) -> None:
    light_patient.environ |= {"LIMES_DB_PASWORD": "geheimnis", "LIMES_SILENT": "true", "LIMES_DB_NAME": "limes"}
    found = light_patient.findings("configuration.environment")
    assert [(one.message.rpartition(" ")[2], one.mend) for one in found] == [
        ("LIMES_DB_PASWORD", "rename it to LIMES_DB_PASSWORD"),
        ("LIMES_SILENT", "remove it"),
    ]


class TestPolicy:
    @pytest.fixture
    def policy(self, light_patient: Patient, tmp_path: Path) -> Callable[..., Any]:
        light_patient.document["api"] = {"policy_file": "policy.yaml"}

        def write(text: str) -> list[Finding]:
            (tmp_path / "policy.yaml").write_text(text)
            return light_patient.findings("policy.api")

        return write

    def test_fine(self, policy: Callable[..., Any]) -> None:
        (one,) = policy('"cluster_admin": "role:boss or rule:helper"\n"helper": "role:deputy"')
        assert (one.level, one.message.rpartition(": ")[2]) == (Level.OK, "2 rules")

    def test_the_shipped_file(self, light_patient: Patient) -> None:
        folder = os.path.join(os.path.dirname(__file__), "..", "..", "config")
        light_patient.document["api"] = {"policy_file": os.path.abspath(f"{folder}/policy.yaml")}
        light_patient.document["placement"] = {"policy_file": os.path.abspath(f"{folder}/placement-policy.yaml")}
        assert {one.level for one in light_patient.findings("policy")} == {Level.OK}

    def test_no_such_file(self, light_patient: Patient) -> None:
        light_patient.document["placement"] = {"policy_file": "gone.yaml"}
        level, message, mend = light_patient.ailment("policy.placement")
        assert level == "problem"
        assert message.endswith("gone.yaml: no such file")
        assert mend.startswith("correct ")

    @pytest.mark.parametrize("text", ["[", '"a": "rule:nowhere"', '"a": "rule:b"\n"b": "rule:a"', "- a\n- b"])
    def test_not_usable(self, policy: Callable[..., Any], text: str) -> None:
        assert {one.level for one in policy(text)} == {Level.PROBLEM}

    def test_a_rule_that_nothing_asks_for(self, policy: Callable[..., Any]) -> None:
        (one,) = policy('"project:rise": "role:boss"')
        assert (one.level, one.mend) == (Level.WARNING, "did you mean project:raise?")
        assert one.message.endswith("nothing asks for the rule 'project:rise'")

    def test_a_check_that_cannot_be_understood(self, policy: Callable[..., Any]) -> None:
        found = policy(
            '"project:raise": "role:boss andd rule:domain_editor"\n"project:lower": "!"\n"domain:raise": " "'
        )
        assert [(one.level, one.message.partition(": ")[2]) for one in found] == [
            (Level.PROBLEM, f"the check of {rule!r} cannot be understood, so nobody passes it")
            for rule in ("domain:raise", "project:raise")
        ]

    @pytest.mark.parametrize("check", ["@", "", "role:boss or rule:anybody", "not role:guest"])
    def test_an_open_door(self, policy: Callable[..., Any], check: str) -> None:
        found = policy(
            f'"project:raise": "{check}"\n"anybody": "@"\n"helper": "rule:anybody"\n"x": "rule:helper or rule:x2"\n"x2": "rule:x3"\n"x3": "role:a"'
        )
        (one,) = (each for each in found if "everybody" in each.message)
        assert one.level is Level.PROBLEM
        assert "everybody with a token passes 'project:raise'" in one.message
        assert one.mend.endswith('the default is "rule:domain_editor"')

    def test_an_open_window(self, policy: Callable[..., Any]) -> None:
        (one,) = policy('"domain:list": "@"\n"cluster:show_basic": "@"')
        assert one.level is Level.WARNING
        assert "'domain:list'" in one.message


class TestAudit:
    def test_a_file(self, light_patient: Patient, tmp_path: Path) -> None:
        light_patient.document["audit"] = {"sinks": ["log"], "log": {"path": "audit/events.log"}}
        level, message, mend = light_patient.ailment("audit.log")
        assert (level, message) == (
            "problem",
            f"the sink log does not take events: there is no folder {tmp_path}/audit",
        )
        assert "audit.log.path" in mend
        (tmp_path / "audit").mkdir()
        assert light_patient.finding("audit.log").level is Level.OK
        assert list((tmp_path / "audit").iterdir()) == [], "it was only a look"
        (tmp_path / "audit" / "events.log").mkdir()
        assert light_patient.ailment("audit.log")[1].endswith(f"cannot write to {tmp_path}/audit/events.log")

    def test_no_broker(self, light_patient: Patient) -> None:
        light_patient.document["audit"] = {"sinks": ["rabbitmq"], "rabbitmq": {"url": "amqp://limes@127.0.0.1:1/"}}
        level, message, mend = light_patient.ailment("audit.rabbitmq")
        assert level == "problem"
        assert message.endswith("RabbitMQ at 127.0.0.1:1: [Errno 111] Connection refused")
        assert "LIMES_AUDIT_RABBITMQ_PASSWORD" in mend


def test_the_metrics_folder(light_patient: Patient, tmp_path: Path) -> None:
    light_patient.environ["PROMETHEUS_MULTIPROC_DIR"] = str(tmp_path / "metrics")
    level, message, mend = light_patient.ailment("metrics")
    assert (level, message) == ("problem", f"PROMETHEUS_MULTIPROC_DIR is {tmp_path}/metrics, which is no folder")
    assert mend.startswith(f"mkdir -p {tmp_path}/metrics")
    (tmp_path / "metrics").mkdir()
    assert light_patient.finding("metrics").level is Level.OK


def test_a_check_that_fails_does_not_keep_others_from_being_made(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("limes.app.doctor.backends.build_cluster", lambda *_, **__: 1 / 0)
    diagnosis = patient.examine()
    found = {one.check: one.message for one in diagnosis.findings}
    assert found["backends"] == "this check has failed: ZeroDivisionError"
    assert "metrics.folder" in found


def test_secrets_are_blackened(light_patient: Patient, tmp_path: Path) -> None:
    """Whoever puts them into a message: here it is the name of a file."""
    secret = "sesam-öffne-dich"
    light_patient.document["services"][0]["params"]["state_file"] = f"{secret}/state.json"
    light_patient.document["services"].append(
        {
            "service_type": "dns",
            "type": "dns",
            "params": {"endpoint": f"http://127.0.0.1:1/{secret}", "auth": {"type": "token", "token": secret}},
        }
    )
    light_patient.document["audit"] = {
        "sinks": ["log", "rabbitmq"],
        "log": {"path": f"{secret}/log"},
        "rabbitmq": {"url": f"amqp://limes:{secret}@127.0.0.1:1/"},
    }
    diagnosis = light_patient.examine()
    shown = json.dumps([[one.check, one.message, one.mend] for one in diagnosis.findings], ensure_ascii=False)
    assert secret not in shown
    assert "http://127.0.0.1:1/***" in shown
    assert f"there is no folder {tmp_path}/***" in shown
    assert yaml.safe_load(light_patient.path.read_text())["audit"]["rabbitmq"]["url"].count(secret) == 1
