"""The files that editors, git and hosting platforms read can be read, and what they run exists."""

import json
import re

import yaml

from tests.house import ROOT
from tests.setup.needs import GOALS


def test_hooks_are_linters_of_the_makefile() -> None:
    document = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    programs = {hook["entry"].split()[0] for repository in document["repos"] for hook in repository["hooks"]}
    linters = re.findall(r"^\t\$\(BIN\)/(ruff|mypy|lint-imports)\b", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert programs == {f".venv/bin/{name}" for name in linters}


def test_the_container_is_set_up_as_for_make_test() -> None:
    document = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    assert " -m tests.setup test " in document["postCreateCommand"]
    assert "test" in GOALS


def test_issue_templates_are_forms() -> None:
    for name in ("bug", "feature"):
        form = yaml.safe_load((ROOT / f".github/ISSUE_TEMPLATE/{name}.yml").read_text())
        assert {"name", "description", "body"} <= form.keys()
        ids = [field["id"] for field in form["body"] if field["type"] != "markdown"]
        assert ids
        assert len(set(ids)) == len(ids)


def test_commits_to_look_behind_have_full_names() -> None:
    lines = (ROOT / ".git-blame-ignore-revs").read_text().splitlines()
    assert [line for line in lines if not re.fullmatch(r"#.*|[0-9a-f]{40}|", line)] == []
