"""What tests write goes to memory where there is enough, and the memory is given back."""

import os
import tempfile
from pathlib import Path

import pytest

from tests.support import memory_folder
from tests.support.memory_folder import remove_memory_folder, use_memory_folder

MUCH = "MemTotal: 99 kB\nMemAvailable: 90000000 kB\n"


@pytest.fixture
def shared_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for the machine's shared memory, and a machine with much of it."""
    monkeypatch.setattr(tempfile, "tempdir", tempfile.tempdir)
    monkeypatch.setenv("TMPDIR", "x")
    monkeypatch.delenv("TMPDIR")
    (tmp_path / "meminfo").write_text(MUCH)
    monkeypatch.setattr(memory_folder, "_MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(memory_folder, "_SHARED_MEMORY", tmp_path)
    monkeypatch.setattr(memory_folder, "_ENOUGH", 1 << 20)
    return tmp_path


def test_what_is_written_goes_there_and_is_gone_at_the_end(shared_memory: Path) -> None:
    folder = use_memory_folder()
    assert folder is not None
    assert tempfile.gettempdir() == os.environ["TMPDIR"] == str(folder)
    Path(tempfile.mkdtemp(), "file").write_text("x")
    remove_memory_folder(folder)
    assert not list(shared_memory.glob("limes-tests-*"))
    assert "TMPDIR" not in os.environ


def test_a_folder_that_was_chosen_stays(shared_memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/somewhere")
    assert use_memory_folder() is None


@pytest.mark.parametrize("meminfo", ["MemAvailable: 1023 kB\n", "MemTotal: 90000000 kB\n"])
def test_a_machine_with_little_memory_uses_its_disk(shared_memory: Path, meminfo: str) -> None:
    (shared_memory / "meminfo").write_text(meminfo)
    assert use_memory_folder() is None
    assert "TMPDIR" not in os.environ


def test_a_folder_that_is_not_there_is_not_used(shared_memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_folder, "_SHARED_MEMORY", shared_memory / "missing")
    assert use_memory_folder() is None


def test_what_a_killed_run_has_left_is_removed(shared_memory: Path) -> None:
    abandoned, living = shared_memory / "limes-tests-999999999", shared_memory / f"limes-tests-{os.getppid()}"
    abandoned.mkdir()
    living.mkdir()
    folder = use_memory_folder()
    assert folder is not None
    assert not abandoned.exists()
    assert living.exists()
