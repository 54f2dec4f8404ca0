"""What holds for each sub-command: help, exit codes, and JSON where it shows something."""

import argparse
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from limes.app.cli import build_parser, main

QUICKSTART = Path(__file__).parents[3] / "config" / "quickstart.yaml"
SILENT = {
    *("limes serve", "limes api", "limes placement", "limes liquid", "limes metrics"),  # these become servers
    "limes plugin set-quota",  # does, and shows nothing
    "limes completion",  # prints a script
    "limes config init",  # writes a file
    *("limes notify unsubscribe", "limes notify subscribe"),  # change one thing
}


def commands(parser: argparse.ArgumentParser) -> Iterator[Any]:
    """Each command that can be called, with its line in the list of its group."""
    nested = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in nested:
        helps = {choice.dest: choice.help for choice in action._choices_actions}
        for name, inner in action.choices.items():
            if inner.get_default("run"):
                yield inner, helps.get(name)
            yield from commands(inner)


COMMANDS = list(commands(build_parser()))


def each() -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("parser", "line"), COMMANDS, ids=[parser.prog for parser, _ in COMMANDS])


@each()
def test_it_has_help(parser: Any, line: Any) -> None:
    assert line
    assert len(line) > 10
    assert not line.endswith(".")
    for action in parser._actions:
        assert action.help or isinstance(action, argparse._SubParsersAction), f"{parser.prog}: {action.dest}"


@each()
def test_its_exit_codes_are_documented(parser: Any, line: Any) -> None:
    (text,) = re.findall(r"Exit codes: .*", " ".join(parser.format_help().split()))
    codes = {int(code) for code in re.findall(r"(?:^|[:;] )(\d+): ", text)}
    assert {0, 1, 2, 130} <= codes
    failure = parser.get_default("failure_code")
    assert failure is None or failure in codes


@each()
def test_it_speaks_json_if_it_shows_something(parser: Any, line: Any) -> None:
    options = {option for action in parser._actions for option in action.option_strings}
    assert ("--json" in options) is (parser.prog not in SILENT), parser.prog


@each()
def test_its_groups_have_help(parser: Any, line: Any) -> None:
    for name in parser.prog.split()[1:-1]:
        assert re.search(rf"^ +{name} +\S", build_parser().format_help(), re.MULTILINE)


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert re.fullmatch(r"limes \d+\.\d+\.\d+\n", capsys.readouterr().out)


def test_a_wrong_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["weather"])
    assert "invalid choice: 'weather'" in capsys.readouterr().err


@pytest.fixture
def _quickstart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The configuration of the quick start, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "var").mkdir()
    monkeypatch.setenv("LIMES_CONFIG", str(QUICKSTART))


@pytest.mark.usefixtures("_quickstart")
@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (("config", "check"), {"problems", "services", "resources"}),
        (("plugin", "list"), {"plugins"}),
        (("plugin", "get-usage", "object-store", "1a000000000000000000000000000001"), {"resources", "state"}),
        (("plugin", "scan-capacity", "object-store"), {"services"}),
        (("db", "status"), {"databases"}),
        (("doctor", "--only", "policy"), {"worst", "version", "config", "findings"}),
    ],
)
def test_documents(capsys: pytest.CaptureFixture[str], arguments: tuple[Any, ...], keys: set[str]) -> None:
    """JSON alone is on standard output."""
    main([*arguments, "--json"])
    assert set(json.loads(capsys.readouterr().out)) == keys
    main(arguments)
    shown = capsys.readouterr().out
    assert shown.strip()
    assert "\x1b" not in shown, "no colours where nobody sees them"
    with pytest.raises(ValueError):
        json.loads(shown)


@pytest.mark.parametrize("what", ["policy", "options"])
def test_lists_of_the_configuration(capsys: pytest.CaptureFixture[str], what: str) -> None:
    assert main(["config", what, "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert len(entries) > 30
    assert all("".join(map(str, entry.values())) for entry in entries)
    assert {"policy": "name", "options": "key"}[what] in entries[0]


def test_problems_of_the_configuration_as_json(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "limes.yaml"
    path.write_text("surprise: 1\n")
    monkeypatch.setenv("LIMES_CONFIG", os.fspath(path))
    assert main(["config", "check", "--json"]) == 1
    captured = capsys.readouterr()
    assert "surprise: unknown key" in json.loads(captured.out)["problems"]
    assert captured.err == ""


@pytest.mark.usefixtures("_quickstart")
def test_migrations_as_json_and_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["db", "status", "--json"]) == 1
    limes, placement = json.loads(capsys.readouterr().out)["databases"]
    assert (limes["half"], limes["pending"][0], placement["half"]) == ("Limes", "0001_initial", "Placement")
    assert main(["db", "upgrade", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["databases"][0]["applied"] == limes["pending"]
    assert main(["db", "status"]) == 0
    assert capsys.readouterr().out.count("up to date") == 2
