"""Quotas of projects are noted some projects at a time: by many collectors, and by those that are killed."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from limes.backends import ProjectInfo
from limes.growth import sample as growth
from limes.growth import sample_queries as growth_samples
from limes.growth.sample import note_quotas
from limes.kernel.calendar import HOUR
from tests.collector.lab import GERMANY, Lab
from tests.growth.in_lab import take_sample
from tests.support.databases import ON_POSTGRESQL

pytestmark = pytest.mark.sql

PROJECTS = 7
Times = list[tuple[str, int, int | None, int]]


@pytest.fixture
def lab(lab: Lab) -> Lab:
    """A cloud with more projects than a piece has; quotas are noted two projects at a time."""
    lab.keystone.found[GERMANY] += [
        ProjectInfo(f"p-{number}", f"project-{number}", GERMANY.id, GERMANY) for number in range(PROJECTS)
    ]
    lab.discover()
    lab.scrape_all()
    lab.execute("UPDATE project_resources SET quota = NULL")
    take_sample(lab)
    return lab


def set_quotas(lab: Lab, quota: int, *projects: int) -> int:
    """Of cores. Returns the time."""
    for number in projects or range(PROJECTS):
        lab.set_quota("cores", quota, f"project-{number}")
    return int(lab.now)


def noted(lab: Lab) -> Times:
    return lab.rows("SELECT project_uuid, since, until, quota FROM quota_times ORDER BY 1, 2")


def sample(lab: Lab) -> None:
    """As the job does it, but in small pieces."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growth, "_PROJECTS", 2)
        take_sample(lab)


@pytest.mark.parametrize("size", [1, 2, 3, 9, 100])
def test_all_pieces_are_noted(lab: Lab, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    first = set_quotas(lab, 5)
    sample(lab)
    assert noted(lab) == [(f"p-{number}", first, None, 5) for number in range(PROJECTS)]
    lab.clock.advance(HOUR)
    lab.execute("DELETE FROM projects WHERE uuid IN ('p-0', 'p-3', 'p-6')")
    second = set_quotas(lab, 6, 1, 5)
    lab.execute("UPDATE growth_state SET sampled_at = %s", second)
    monkeypatch.setattr(growth, "_PROJECTS", size)
    note_quotas(lab.limes)
    gone = [(f"p-{number}", first, second, 5) for number in (0, 3, 6)]
    same = [(f"p-{number}", first, None, 5) for number in (2, 4)]
    changed = [row for one in (1, 5) for row in ((f"p-{one}", first, second, 5), (f"p-{one}", second, None, 6))]
    assert noted(lab) == sorted([*gone, *same, *changed])


class Killed(BaseException):
    """The process has ended."""


@pytest.mark.parametrize("pieces", range(5))
def test_what_a_killed_process_has_not_noted_is_noted_next(lab: Lab, pieces: int) -> None:
    first = set_quotas(lab, 5)
    left, note = iter(range(pieces)), growth_samples.note_changes

    def note_or_die(*arguments: Any) -> None:
        note(*arguments)  # what it wrote in this piece is lost
        if next(left, None) is None:
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growth_samples, "note_changes", note_or_die)
        with pytest.raises(Killed):
            sample(lab)
    done = min(2 * pieces, PROJECTS)
    assert noted(lab)[:done] == [(f"p-{number}", first, None, 5) for number in range(PROJECTS)][:done]
    lab.clock.advance(HOUR)
    second = set_quotas(lab, 6, 0, 6)
    sample(lab)
    found = noted(lab)
    assert {row[0] for row in found if row[2] is None} == {f"p-{number}" for number in range(PROJECTS)}
    assert {row[0]: row[3] for row in found if row[2] is None} == {
        f"p-{number}": 6 if number in (0, 6) else 5 for number in range(PROJECTS)
    }
    assert {row[1] for row in found if row[2] is None} <= {first, second}


@ON_POSTGRESQL
def test_two_at_once_note_each_change_once(lab: Lab) -> None:
    for round_ in range(8):
        set_quotas(lab, round_ + 1, *range(round_ % 3, PROJECTS))
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(sample, lab) for _ in range(4)]:
                done.result(100)
        assert all(since == int(lab.now) for _, since, until, quota in noted(lab) if quota == round_ + 1)
        lab.clock.advance(HOUR)
    rows = noted(lab)
    for number in range(PROJECTS):
        times = [row[1:] for row in rows if row[0] == f"p-{number}"]
        quotas = [quota for _, _, quota in times]
        assert quotas == [round_ + 1 for round_ in range(8) if number >= round_ % 3]
        assert [until for _, until, _ in times] == [since for since, _, _ in times[1:]] + [None]
