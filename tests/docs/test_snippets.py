"""Every snippet of every page is what its language says, and what Limes or the program that it is for understands."""

from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, Block, blocks_of, pages
from tests.docs.snippets import TRIES
from tests.docs.test_commands import COMMANDS

BLOCKS = [block for page in pages() for block in blocks_of(page)]
SNIPPETS = [block for block in BLOCKS if block.is_run_here and block.language not in COMMANDS]


@pytest.mark.parametrize("block", SNIPPETS, ids=lambda block: block.where)
def test_snippet(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert block.language in TRIES, f"{block.where}: nobody knows how to try {block.language}; say why it is not run"
    monkeypatch.setenv("LIMES_CONFIG", str(tmp_path / "limes.yaml"))
    monkeypatch.setenv("LIMES_IDENTITY_PASSWORD", "secret")
    for secret in ("WEBHOOK_SECRET", "SMTP_PASSWORD", "UNSUBSCRIBE_SECRET"):
        monkeypatch.setenv(f"LIMES_NOTIFICATIONS_{secret}", "sixteen-characters")
    TRIES[block.language](block, tmp_path)


def test_what_is_not_run_says_why() -> None:
    assert [block.where for block in BLOCKS if not block.is_run and len(block.marks["not run"]) < 8] == []


def test_what_another_test_runs_is_run_there() -> None:
    elsewhere = {block.marks["run by"] for block in BLOCKS if "run by" in block.marks}
    assert [name for name in sorted(elsewhere) if not (ROOT / name).is_file()] == []
