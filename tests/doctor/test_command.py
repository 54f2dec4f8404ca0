"""`limes doctor` as it is run: exit codes, table and JSON, colours, and no log lines between."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from limes.app.cli import main
from limes.app.commands import doctor
from limes.app.doctor import examination
from tests.doctor.patient import Patient


@pytest.fixture
def run(patient: Patient, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    def run(*arguments: Any) -> tuple[int, Any, Any]:
        code = main(["doctor", *arguments, "--config", patient.write()])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    for name in [name for name in os.environ if name.startswith("LIMES_")]:  # such as those of `make check`
        monkeypatch.delenv(name)
    monkeypatch.setenv("LIMES_CONFIG", "")
    return run


def test_all_is_well(run: Callable[..., Any]) -> None:
    code, out, err = run()
    assert (code, err) == (0, ""), out
    assert "ok        configuration.file" in out
    assert out.rstrip().endswith("What to do: nothing")
    assert "\x1b" not in out


def test_a_warning(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIMES_DB_PASWORD", "geheimnis")
    code, out, _ = run()
    assert code == 1
    assert "rename it to LIMES_DB_PASSWORD" in out
    assert "geheimnis" not in out
    assert "More on configuration: docs/troubleshooting.md#a-process-does-not-start" in out


def test_problems(run: Callable[..., Any], patient: Patient) -> None:
    patient.document["api"] = {"policy_file": "gone.yaml"}
    code, out, err = run("--json", "--only", "policy", "--only", "database")
    assert (code, err) == (2, "")
    document = json.loads(out)
    assert document["worst"] == "problem"
    assert {one["check"].partition(".")[0] for one in document["findings"]} == {"policy", "database"}
    (bad,) = (one for one in document["findings"] if one["level"] == "problem")
    assert bad["check"] == "policy.api"
    assert bad["mend"].startswith("correct ")


def test_a_configuration_that_cannot_be_read(run: Callable[..., Any], patient: Patient) -> None:
    patient.document = {"availability_zones": []}
    code, out, err = run()
    assert (code, err) == (2, "")
    assert "services: missing" in out
    assert "Traceback" not in out


def test_the_names_of_the_checks() -> None:
    assert tuple(examination.CHECKS) == doctor.CHECKS


def test_an_unknown_check(run: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        run("--only", "weather")
    assert "invalid choice: 'weather'" in capsys.readouterr().err


def test_no_file_is_named_where_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LIMES_CONFIG", raising=False)
    monkeypatch.setattr("limes.app.composition.common.DEFAULT_CONFIG", str(tmp_path / "not-here.yaml"))
    monkeypatch.chdir(tmp_path)
    assert main(["doctor"]) == 2
    out = capsys.readouterr().out
    assert out.splitlines()[0].rstrip().endswith("without a configuration file")
    assert "Limes" in out.splitlines()[0]
    assert main(["doctor", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["config"] is None
