"""A configuration for `limes placement` alone: a database, identities and a section, but no services to manage."""

import os
from pathlib import Path

import pytest

from limes.app.cli import main
from limes.app.composition.checks import check_http_process
from limes.app.composition.common import all_databases
from limes.app.doctor.examination import examine
from limes.kernel.errors import ConfigError
from limes.kernel.findings import Level

CONFIG = """
database: {url: "sqlite:///placement.db"}
identity: {method: noauth}
placement: {listen: "127.0.0.1:0"}
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "limes.yaml"
    path.write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    for name in [one for one in os.environ if one.startswith("LIMES_")]:  # the doctor warns of what nobody reads
        monkeypatch.delenv(name)
    monkeypatch.setenv("LIMES_CONFIG", str(path))
    return path


@pytest.mark.parametrize("own", ["", ', database_url: "sqlite:///own.db"'])
def test_all_that_the_placement_needs_works(config: Path, capsys: pytest.CaptureFixture[str], own: str) -> None:
    config.write_text(CONFIG.replace('"127.0.0.1:0"', '"127.0.0.1:0"' + own))
    assert main(["config", "check"]) == 0
    assert "fine, for `limes placement` alone" in capsys.readouterr().out
    assert main(["db", "upgrade"]) == 0
    assert [one.migrations.name for one in all_databases()] == ["Placement"]
    assert check_http_process("placement")[0].listen == "127.0.0.1:0"
    findings = examine().findings
    assert {one.level for one in findings} == {Level.OK, Level.SKIPPED}, findings
    examined = {one.check.partition(".")[0] for one in findings if one.level == Level.OK}
    assert examined >= {"configuration", "policy", "database"}


@pytest.mark.parametrize("process", ["api", "liquid"])
def test_the_limes_half_says_what_it_lacks(config: Path, process: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_http_process(process)
    assert [one.partition(":")[0] for one in caught.value.problems] == ["availability_zones", "services"]
    assert "only `limes placement` can work with this file" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        CONFIG.replace("placement: ", "api: "),
        CONFIG + "availability_zones: [az-one]\n",
        CONFIG + "availability_zones: [az-one]\nservices: []\n",
    ],
)
def test_a_file_for_both_halves_has_to_be_whole(config: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    config.write_text(text)
    assert main(["config", "check"]) == 1
    assert "services: " in capsys.readouterr().err
