"""A new cloud, domain or service is sampled soon after its first figures; nothing else is sampled early."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from limes.growth.sample import JOB, SOON
from limes.kernel.calendar import HOUR
from limes.projects.claims import run_if_due
from tests.collector.lab import AZUsage, Lab
from tests.growth.in_lab import HOURS, set_capacity, stored, take_sample, use
from tests.support.databases import ON_POSTGRESQL
from tests.support.statements import count_statements

GERMANY = "d-germany"
INTERVAL = 1800.0


@pytest.fixture
def lab(lab: Lab) -> Lab:
    """A cloud whose collector has just started: a sample was taken of nothing."""
    lab.clock.advance(HOUR - lab.now % HOUR)
    assert run(lab)
    assert due_in(lab) == INTERVAL
    return lab


def run(lab: Lab, work: Callable[[], object] | None = None) -> bool | None:
    """What a collector does at each poll."""
    return run_if_due(lab.limes, JOB, lambda limes: (work or partial(take_sample, lab))(), INTERVAL)


def sample_after(lab: Lab, *pauses: float) -> None:
    for pause in pauses:
        lab.clock.advance(pause)
        run(lab)


def due_in(lab: Lab) -> float:
    [[time]] = lab.rows("SELECT next_run_at FROM jobs WHERE name = %s", JOB)
    return float(time) - lab.now


def cores(lab: Lab, scope: str = GERMANY) -> list[int]:
    """What was sampled of them."""
    return [row[1] for row in stored(lab, "growth_hours", HOURS, scope)]


def test_the_first_figures_are_sampled_soon(lab: Lab) -> None:
    use(lab, 7)
    assert due_in(lab) == SOON
    assert run(lab) is None
    lab.clock.advance(SOON)
    assert run(lab)
    assert (cores(lab), cores(lab, ""), due_in(lab)) == ([7], [7], INTERVAL)


def test_projects_that_are_scraped_later_in_the_first_hour_count_soon(lab: Lab) -> None:
    use(lab, 7)
    sample_after(lab, SOON)
    use(lab, 5, project="dresden")
    lab.clock.advance(SOON)
    assert run(lab)
    assert cores(lab) == [12]


def test_what_is_known_for_an_hour_is_not_sampled_early(lab: Lab) -> None:
    use(lab, 7)
    sample_after(lab, SOON, HOUR)
    for project, amount in (("berlin", 8), ("berlin", 0), ("berlin", 9), ("dresden", 5)):
        use(lab, amount, project=project)
        assert due_in(lab) == INTERVAL


def test_a_new_domain_and_a_new_resource_are_sampled_soon(lab: Lab) -> None:
    use(lab, 7)
    sample_after(lab, SOON, HOUR)
    use(lab, 3, project="paris")
    assert due_in(lab) == SOON
    sample_after(lab, SOON)
    assert cores(lab, "d-france") == [3]
    use(lab, 7, ram=9)
    assert due_in(lab) == SOON


def test_a_service_that_is_added_later_is_sampled_soon(lab: Lab) -> None:
    use(lab, 7)
    sample_after(lab, SOON, 5 * HOUR)
    lab.volume.usage["berlin"] = {"capacity": {"az-one": AZUsage(20)}}
    lab.scrape_all("volume")
    lab.clock.advance(SOON)
    assert run(lab)
    assert [row[1] for row in stored(lab, "growth_hours", HOURS, GERMANY, "capacity")] == [20]


def test_quota_alone_and_capacity_alone_are_figures(lab: Lab) -> None:
    lab.compute.default_quota = {"cores": 8}  # what each new project gets
    lab.scrape_all()
    assert due_in(lab) == SOON
    sample_after(lab, SOON, HOUR)
    set_capacity(lab, 0, "ram")
    assert due_in(lab) == INTERVAL, "there is none"
    set_capacity(lab, 5, "ram")
    assert due_in(lab) == SOON
    sample_after(lab, SOON)
    assert stored(lab, "growth_hours", "capacity", resource="ram")[-1][1] == 5
    set_capacity(lab, 6, "ram")
    assert due_in(lab) == INTERVAL, "it is not new any more"


def test_figures_that_a_running_sample_has_not_seen_are_sampled_next(lab: Lab) -> None:
    """A scrape whose figures are stored while another collector is in the middle of a sample."""
    use(lab, 7)
    lab.clock.advance(SOON)

    def sample_and_lose_the_race() -> None:
        take_sample(lab)
        use(lab, 3, project="paris")

    run(lab, sample_and_lose_the_race)
    assert due_in(lab) == SOON
    assert cores(lab, "d-france") == []
    lab.clock.advance(SOON)
    assert run(lab)
    assert cores(lab, "d-france") == [3]


@ON_POSTGRESQL
def test_collectors_that_scrape_at_once_have_one_sample_taken(lab: Lab) -> None:
    for project in ("berlin", "dresden", "paris"):
        lab.compute.usage[project] = {"cores": {"az-one": AZUsage(2)}}
    lab.execute("UPDATE project_services SET next_scrape_at = %s", lab.now - 1)
    with ThreadPoolExecutor(4) as pool:
        scrapes = [pool.submit(lab.scrape_all) for _ in range(4)]
        assert sum(each.result(100) for each in scrapes) == 3
        lab.clock.advance(SOON)
        ran = [pool.submit(run, lab) for _ in range(4)]
        assert sorted(str(each.result(100)) for each in ran) == ["None", "None", "None", "True"]
    assert (cores(lab), cores(lab, "d-france"), due_in(lab)) == ([4], [2], INTERVAL)


def test_a_scrape_that_finds_nothing_for_the_first_time_costs_nothing_more(lab: Lab) -> None:
    use(lab, 7)
    same = count_statements(lab.engine, lambda: use(lab, 7))
    lab.execute("DELETE FROM jobs")
    assert count_statements(lab.engine, lambda: use(lab, 7)) == same
    more = count_statements(lab.engine, lambda: use(lab, 8))
    first = count_statements(lab.engine, lambda: use(lab, 8, ram=1))
    assert first <= more + 2, "a new row, and the question"
