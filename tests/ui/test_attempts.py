"""Numbers of sign-ins that have ended: each counts once, in all processes that share a folder."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from limes.ui.attempts import GOOD_FOR, Attempts, UsedNumbers
from tests.support.clock import FrozenClock


def test_the_key_is_not_shown(clock: FrozenClock) -> None:
    assert "s3cret" not in repr(Attempts(b"s3cret", clock, UsedNumbers(clock, None)))


def test_each_is_new_once(clock: FrozenClock) -> None:
    used, until = UsedNumbers(clock, None), clock.now().timestamp() + GOOD_FOR
    assert [used.add(number, until) for number in ("a", "b", "a")] == [True, True, False]


def test_a_folder_is_shared(tmp_path: Path, clock: FrozenClock) -> None:
    workers = [UsedNumbers(clock, tmp_path / "shared") for _ in range(8)]
    until = clock.now().timestamp() + GOOD_FOR
    with ThreadPoolExecutor(8) as threads:
        for number in map(str, range(20)):
            answers = list(threads.map(lambda worker, number=number: worker.add(number, until), workers))
            assert answers.count(True) == 1


def test_old_files_go(tmp_path: Path, clock: FrozenClock) -> None:
    used = UsedNumbers(clock, tmp_path)
    used.add("a", 0)
    clock.advance((tmp_path / "ended-sign-ins" / "a").stat().st_mtime - clock.now().timestamp() + 3601)
    used.add("b", 0)
    assert [path.name for path in (tmp_path / "ended-sign-ins").iterdir()] == ["b"]
