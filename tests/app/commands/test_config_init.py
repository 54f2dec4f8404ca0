"""`limes config init`: a configuration to start from, and never at the cost of one that is there."""

import stat
from pathlib import Path

import pytest

from limes.app.cli import main
from limes.app.composition.common import find_config


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LIMES_CONFIG", "")
    monkeypatch.setenv("LIMES_IDENTITY_PASSWORD", "secret")


def test_the_file_is_valid_and_found_by_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "init"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Wrote limes.yaml\n")
    for command in ("limes config check", "limes db upgrade", "limes doctor", "limes serve"):
        assert command in printed
    assert find_config({}) == Path("limes.yaml")
    assert main(["config", "check"]) == 0
    assert not Path("limes.yaml").stat().st_mode & stat.S_IROTH, "there may be passwords in it one day"


def test_nothing_is_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    Path("limes.yaml").write_text("mine")
    assert main(["config", "init"]) == 1
    assert capsys.readouterr().err == "limes: limes.yaml is there already, and is left as it is; name another file\n"
    assert main(["config", "init", "other.yaml"]) == 0
    Path("sample-data.yaml").write_text("mine, too")
    assert main(["config", "init", "--sample", "third.yaml"]) == 1
    assert not Path("third.yaml").exists()
    assert (Path("limes.yaml").read_text(), Path("sample-data.yaml").read_text()) == ("mine", "mine, too")


def test_a_folder_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "init", "nowhere/limes.yaml"]) == 1
    assert capsys.readouterr().err == "limes: cannot write nowhere/limes.yaml: No such file or directory\n"


def test_the_sample_cloud_as_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "init", "--sample"]) == 0
    assert main(["config", "check"]) == 0
    assert Path("sample-data.yaml").is_file()


def test_a_named_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check", "--config", "nowhere.yaml"]) == 1
    here = Path().absolute()
    assert capsys.readouterr().err == (
        f"limes: {here}/nowhere.yaml: there is no such configuration file;"
        f" `limes config init {here}/nowhere.yaml` writes one to start from\n"
    )
