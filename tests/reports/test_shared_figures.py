"""Scrapes share a reading of the figures: how old it may be, who reads, and what a failure leaves."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from limes.kernel.errors import Unavailable
from limes.reports.shared_figures import SharedFigures
from limes.web.packed import PackedText, pack


class Database:
    """Gives another figure with each reading."""

    def __init__(self) -> None:
        self.readings = 0
        self.error: str | None = None
        self.may_end = threading.Event()
        self.may_end.set()

    def read(self) -> PackedText:
        self.readings += 1
        assert self.may_end.wait(60)
        if self.error:
            raise Unavailable(self.error)
        return PackedText([pack(b"reading "), pack(b"%d" % self.readings)])


def text(figures: SharedFigures) -> bytes | None:
    reading = figures.latest()
    return None if reading is None else b"".join(reading.parts())


def gauges(figures: SharedFigures) -> dict[str, float]:
    registry = CollectorRegistry()
    registry.register(figures)
    lines = generate_latest(registry).decode().splitlines()
    return {line.split()[0]: float(line.split()[1]) for line in lines if not line.startswith("#")}


def test_a_reading_is_shared_for_its_time() -> None:
    database = Database()
    figures = SharedFigures(database.read, 3600)
    assert [text(figures) for _ in range(3)] == [b"reading 1"] * 3


def test_without_any_time_each_scrape_reads() -> None:
    database = Database()
    figures = SharedFigures(database.read, 0)
    assert [text(figures) for _ in range(3)] == [b"reading 1", b"reading 2", b"reading 3"]


def test_scrapes_at_the_same_time_are_one_reading() -> None:
    database = Database()
    database.may_end.clear()
    figures = SharedFigures(database.read, 3600)
    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(text, figures) for _ in range(8)]
        while not database.readings:
            time.sleep(0.01)
        database.may_end.set()
        assert [answer.result(60) for answer in answers] == [b"reading 1"] * 8


def test_who_waits_while_it_fails_does_not_ask_again(monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database()
    database.error = "it does not answer"
    database.may_end.clear()
    figures = SharedFigures(database.read, 3600)
    looks: list[float] = []
    clock = time.monotonic

    def look() -> float:
        if threading.current_thread().name.startswith("asks"):  # others may look at the clock, too
            looks.append(clock())
        return clock()

    monkeypatch.setattr(time, "monotonic", look)
    with ThreadPoolExecutor(8, thread_name_prefix="asks") as pool:
        first = pool.submit(text, figures)
        while not database.readings:
            time.sleep(0.01)
        others = [pool.submit(text, figures) for _ in range(7)]
        while len(looks) < 9:  # two by the first one, and one by each of the others when it asks
            time.sleep(0.01)
        database.may_end.set()
        assert [answer.result(60) for answer in (first, *others)] == [None] * 8
    # the first one had begun before they asked, so that one of them asks for all of them
    assert database.readings == 2
    database.error = None
    assert text(figures) == b"reading 3", "and who comes later does"


def test_who_reads_old_figures_reads_them_to_their_end() -> None:
    database = Database()
    figures = SharedFigures(database.read, 0)
    old = figures.latest()
    assert old is not None
    assert text(figures) == b"reading 2"
    assert b"".join(old.parts()) == b"".join(old.parts()) == b"reading 1", "and as often as it likes"
    assert old.size == 9


def test_half_of_the_figures_are_none_and_old_ones_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database()
    figures = SharedFigures(database.read, 10)
    now: Any = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    assert text(figures) == b"reading 1"
    now[0] += 11
    database.error = "it does not answer"
    assert text(figures) is None
    now[0] += 11
    database.error = None
    assert text(figures) == b"reading 3"


def test_the_age_tells_how_long_it_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database()
    now: Any = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    figures = SharedFigures(database.read, 10)
    database.error = "it does not answer"
    now[0] += 5
    assert text(figures) is None
    assert gauges(figures) == {"limes_data_metrics_age_seconds": 5}, "since the start"
    now[0] += 1
    database.error = None
    assert text(figures)
    assert gauges(figures) == {"limes_data_metrics_age_seconds": 0, "limes_data_metrics_read_seconds": 0}
    database.error = "it does not answer"
    now[0] += 700
    assert text(figures) is None
    assert gauges(figures)["limes_data_metrics_age_seconds"] == 700
