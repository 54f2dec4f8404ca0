"""Reports that are stored together: as if each had been stored alone, but with fewer statements."""

import random
import threading
from collections.abc import Callable, Sequence

import pytest

from limes.app.context import Limes
from limes.backends import AZUsage, ProjectInfo
from limes.collector.scrape_usage import ask, claim_scrapes, record
from limes.collector.service_jobs import Recorder
from limes.kernel.errors import Unavailable
from limes.projects.scrapes import Scrape
from tests.collector.lab import GERMANY, FakeKeystone, Lab
from tests.support.statements import count_statements

TOWNS = [ProjectInfo(f"p-{number}", f"town-{number}", GERMANY.id, GERMANY) for number in range(40)]
STORED = (
    "SELECT p.name, r.name, pr.quota, pr.backend_quota, pr.usage, pr.physical_usage, a.az, a.usage, a.physical_usage,"
    " a.subresources, a.metered_usage FROM project_resources pr JOIN projects p ON p.id = pr.project_id"
    " JOIN resources r ON r.id = pr.resource_id LEFT JOIN project_az_resources a"
    " ON a.project_id = pr.project_id AND a.resource_id = pr.resource_id ORDER BY 1, 2, 7"
)
TIMES = (
    "SELECT scraped_at, quota_desynced_at, next_push_at, drifted_at, scrape_claimed_until FROM project_services ps"
    " JOIN projects p ON p.id = ps.project_id ORDER BY p.name, ps.service_id"
)
STEPS = "SELECT project_uuid, resource_name, az, at, usage FROM usage_steps ORDER BY 1, 2, 3, 4"


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    """Forty towns."""
    lab = make_lab(keystone=FakeKeystone(*TOWNS))
    lab.discover()
    return lab


def use(lab: Lab, dice: random.Random, towns: Sequence[ProjectInfo] = TOWNS) -> None:
    for town in towns:
        azs = dice.sample(["az-one", "az-two", "any", "elsewhere"], dice.randint(0, 3))
        lab.compute.usage[town.name] = {
            "cores": {az: AZUsage(dice.randint(0, 9), dice.choice([None, 3])) for az in azs},
            "gpus": {"az-one": AZUsage(1, None, ({"id": f"gpu{dice.randint(0, 3)}"},))},
        }
        lab.compute.quota[town.name] = {"cores": dice.choice([0, 0, 8])}


def again(lab: Lab) -> None:
    lab.clock.advance(2000)
    lab.execute("UPDATE project_services SET next_scrape_at = %s", lab.now)


@pytest.mark.sql
def test_a_group_stores_what_its_reports_store_alone(lab: Lab) -> None:
    """Town by town, and then all of it once more, with the same reports, in groups of each size."""
    found = []
    for size in (1, 7, 40):
        lab.execute("DELETE FROM projects")
        lab.execute("DELETE FROM usage_steps")
        lab.discover()
        dice = random.Random(5)
        begin = lab.now
        for changing in (TOWNS, TOWNS[:20], [], TOWNS):
            use(lab, dice, changing)
            while lab.scrape_together(limit=size) is not None:
                pass
            again(lab)
        times = [[at and at - begin for at in row] for row in lab.rows(TIMES)]
        steps = [(*row[:3], row[3] - int(begin), row[4]) for row in lab.rows(STEPS)]
        found.append((lab.rows(STORED), times, steps))
    assert found[0] == found[1] == found[2]
    assert len(found[0][2]) > 100


@pytest.mark.sql
def test_statements_do_not_depend_on_the_size_of_a_group(lab: Lab) -> None:
    dice = random.Random(1)
    costs = []
    for size in (1, 3, 36):
        use(lab, dice)
        costs.append(count_statements(lab.engine, lambda size=size: lab.scrape_together(limit=size)))
    assert max(costs) <= costs[0] + 1, "a few deletions may be among them"
    again(lab)
    assert lab.scrape_together() == 40
    again(lab)
    idle = [count_statements(lab.engine, lambda size=size: lab.scrape_together(limit=size)) for size in (1, 39)]
    assert idle[0] == idle[1] < costs[0]


@pytest.mark.sql
def test_one_that_fails_fails_alone(lab: Lab, caplog: pytest.LogCaptureFixture) -> None:
    def listen(limes: Limes, scrapes: Sequence[Scrape]) -> None:
        if any(scrape.task.project_uuid == "p-7" for scrape in scrapes):
            raise RuntimeError("in a listener")

    use(lab, random.Random(2))
    lab.listeners = [*lab.listeners, listen]
    with pytest.raises(ExceptionGroup, match="1 of 40 scrapes were not recorded") as caught:
        lab.scrape_together()
    assert [str(error) for error in caught.value.exceptions] == ["in a listener"]
    assert "40 scrapes cannot be recorded together" in caplog.text
    failed = "SELECT p.uuid FROM project_services ps JOIN projects p ON p.id = ps.project_id"
    assert lab.rows(
        f"{failed} JOIN services s ON s.id = ps.service_id WHERE scraped_at IS NULL AND type = %s", "compute"
    ) == [("p-7",)]
    assert lab.rows("SELECT COUNT(DISTINCT project_id) FROM project_resources") == [(39,)]


@pytest.mark.sql
def test_a_claim_that_is_lost_writes_nothing(lab: Lab, caplog: pytest.LogCaptureFixture) -> None:
    use(lab, random.Random(3))
    reports = [ask(lab.limes, task) for task in claim_scrapes(lab.limes, "compute", 40)]
    lost, gone = reports[3].task, reports[5].task
    lab.execute("UPDATE project_services SET scrape_claimed_until = %s WHERE id = %s", lab.now + 1, lost.id)
    lab.execute("DELETE FROM projects WHERE id = %s", gone.project_id)
    record(lab.limes, reports, lab.listeners)
    assert lab.rows("SELECT scraped_at, scrape_claimed_until FROM project_services WHERE id = %s", lost.id) == [
        (None, lab.now + 1)
    ]
    assert lab.rows("SELECT 1 FROM project_resources WHERE project_id = %s", lost.project_id) == []
    assert lab.rows("SELECT 1 FROM usage_steps WHERE project_uuid = %s", lost.project_uuid) == []
    assert lab.rows("SELECT COUNT(DISTINCT project_id) FROM project_resources") == [(38,)]
    assert caplog.text.count("not recorded, as its lease is over or the project is gone") == 2


def test_a_group_is_what_has_come_while_another_was_recorded() -> None:
    groups, reached, go_on = [], threading.Event(), threading.Event()

    def note(group: Sequence[int]) -> None:
        groups.append(list(group))
        reached.set()
        assert go_on.wait(60)

    recorder = Recorder("test", note, largest=5, pause=0.1)
    recorder.add(0)
    assert reached.wait(60)  # one waits for others only for a moment
    for number in range(1, 6):
        recorder.add(number)  # and none of these for what is recorded just now
    blocked = threading.Thread(target=recorder.add, args=[6], daemon=True)  # but one that is too many does
    blocked.start()
    assert blocked.is_alive()
    go_on.set()
    blocked.join(60)
    recorder.flush()
    assert groups == [[0], [1, 2, 3, 4, 5], [6]]


def test_a_group_that_fails_does_not_stop_others(caplog: pytest.LogCaptureFixture) -> None:
    done = []

    def note(group: Sequence[int]) -> None:
        done.append(list(group))
        raise Unavailable("no database") if group[0] == 1 else RuntimeError("a bug")

    recorder = Recorder("scrape-usage:test", note, largest=1, pause=60)
    for number in (1, 2, 3):
        recorder.add(number)
    recorder.flush()
    assert done == [[1], [2], [3]]
    assert caplog.text.count("scrape-usage:test failed") == 2
    assert "scrape-usage:test: no database" in caplog.text
