"""What a scrape of a project's service writes."""

from collections.abc import Callable, Sequence
from typing import Any, Never

import pytest

from limes.app.context import Limes
from limes.backends import UNLIMITED, AZUsage, BackendError, ProjectInfo, UsageReport
from limes.collector.discover import request_sync
from limes.projects.scrapes import Scrape
from tests.collector.lab import BERLIN, FakeKeystone, Lab, NoJitter
from tests.support.rows import all_rows, changes

pytestmark = pytest.mark.sql

USAGE = (
    "SELECT r.name, pa.az, pa.usage, pa.physical_usage, pa.subresources FROM project_az_resources pa"
    " JOIN resources r ON r.id = pa.resource_id ORDER BY 1, 2"
)
TIMES = ("scraped_at", "checked_at", "next_scrape_at", "scrape_error")


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    """Berlin is the only project."""
    lab = make_lab(keystone=FakeKeystone(BERLIN))
    lab.discover()
    return lab


def test_first_scrape(lab: Lab) -> None:
    lab.compute.usage["berlin"] = {
        "cores": {"az-one": AZUsage(3), "az-nine": AZUsage(1)},
        "ram": {"any": AZUsage(512, 100)},
        "gpus": {"az-two": AZUsage(2, None, ({"id": "gpu1"},))},
    }
    lab.compute.quota["berlin"] = {"cores": 8, "ram": UNLIMITED}
    assert lab.scrape_next("compute") is True
    assert lab.rows(USAGE) == [
        ("cores", "any", 0, None, ""),
        ("cores", "az-one", 3, None, ""),
        ("cores", "unknown", 1, None, ""),
        ("gpus", "any", 0, None, ""),
        ("gpus", "az-two", 2, None, '[{"id":"gpu1"}]'),
        ("ram", "any", 512, 100, ""),
    ]
    # the backend's 8 cores are approved, because that is what it gives to new projects
    assert lab.quotas() == {"cores": (8, 8), "ram": (0, -1), "gpus": (None, None)}
    assert lab.service(*TIMES) == (lab.now, lab.now, lab.now + 1800, "")
    assert lab.service("quota_desynced_at", "next_push_at") == (lab.now, lab.now)
    assert lab.scrape_next("compute") is None


def test_listeners_see_the_figures_and_fail_with_them(lab: Lab) -> None:
    lab.compute.usage["berlin"] = {"cores": {"az-one": AZUsage(3)}}
    heard = []

    def listen(limes: Limes, scrapes: Sequence[Scrape]) -> None:
        [scrape] = scrapes
        cores = scrape.ids["cores"]
        assert (cores in scrape.stored.resources, scrape.present.resources[cores].usage) == (False, 3)
        heard.append(limes.engine.rows("SELECT scraped_at FROM project_services WHERE id = %s", [scrape.task.id]))
        raise RuntimeError("in a listener")

    lab.listeners = [listen]
    with pytest.raises(RuntimeError, match="in a listener"):
        lab.scrape_next("compute")
    assert heard == [[(lab.now,)]]
    assert (lab.service("scraped_at"), lab.rows(USAGE)) == ((None,), [])


def test_what_was_taken_away_is_not_approved_again(lab: Lab) -> None:
    lab.compute.quota["berlin"] = {"cores": 8}
    lab.scrape_next("compute")
    lab.set_quota("cores", 0)  # and the backend was not told yet
    lab.rescrape()
    assert lab.quotas()["cores"] == (0, 8)


def test_later_scrapes_replace_usage_and_keep_quota(lab: Lab) -> None:
    lab.compute.usage["berlin"] = {"cores": {"az-one": AZUsage(3), "az-two": AZUsage(4)}}
    lab.compute.quota["berlin"] = {"cores": 8, "ram": 0}
    lab.scrape_next("compute")
    assert lab.service("quota_desynced_at") == (None,)
    lab.clock.advance(1800)
    lab.compute.usage["berlin"] = {"cores": {"az-two": AZUsage(5)}}
    lab.compute.quota["berlin"] = {"cores": 9, "ram": 0}
    assert lab.scrape_next("compute") is True
    assert lab.rows(USAGE)[:2] == [("cores", "any", 0, None, ""), ("cores", "az-two", 5, None, "")]
    assert lab.quotas()["cores"] == (8, 9)
    assert lab.service("quota_desynced_at", "next_push_at") == (lab.now, lab.now)


def test_a_backend_quota_that_was_put_right_takes_the_mark_away(lab: Lab) -> None:
    lab.compute.quota["berlin"] = {"cores": 9}
    lab.scrape_next("compute")
    assert lab.service("quota_desynced_at") == (lab.now,)
    lab.compute.quota["berlin"] = {"cores": 0}
    lab.rescrape()
    assert lab.service("quota_desynced_at", "next_push_at") == (None, None)


def test_a_report_that_is_older_than_the_mark_does_not_take_it_away(lab: Lab) -> None:
    """The backend had 0 when it was asked; then it was told 5, and since then it could not be told 0 again."""
    lab.scrape_next("compute")
    lab.clock.advance(10)
    request_sync(lab.limes, "d-germany", "p-berlin")

    def meanwhile() -> None:
        lab.set_quota("cores", 5)
        lab.clock.advance(1)
        lab.set_quota("cores", 0)

    report_usage = lab.compute.report_usage

    def report_and_meanwhile(project: ProjectInfo) -> UsageReport:
        report = report_usage(project)
        meanwhile()
        return report

    lab.compute.report_usage = report_and_meanwhile
    assert lab.scrape_next("compute") is True
    assert lab.service("quota_desynced_at", "next_push_at") == (lab.now, lab.now)


def test_a_failed_first_scrape_makes_nothing_up(lab: Lab) -> None:
    before = all_rows(lab.engine)
    lab.compute.error = BackendError("no answer")
    assert lab.scrape_next("compute") is False
    changed = changes(before, all_rows(lab.engine))
    assert set(changed) == {"project_services"}
    assert len(changed["project_services"][1]) == 1
    assert lab.service(*TIMES) == (None, lab.now, lab.now + 300, "no answer")


def test_a_failed_scrape_keeps_the_old_figures_and_a_success_clears_the_error(lab: Lab) -> None:
    lab.compute.usage["berlin"] = {"cores": {"any": AZUsage(5)}}
    lab.scrape_next("compute")
    scraped_at = lab.now
    lab.clock.advance(10)
    request_sync(lab.limes, "d-germany", "p-berlin")
    lab.compute.error = ZeroDivisionError("secret detail")
    assert lab.scrape_next("compute") is False
    error = "internal error of the plugin (ZeroDivisionError)"
    assert lab.service(*TIMES) == (scraped_at, lab.now, lab.now + 300, error)
    assert lab.service("is_stale") == (False,)
    assert ("cores", "any", 5, None, "") in lab.rows(USAGE)
    lab.clock.advance(300)
    lab.compute.error = None
    assert lab.scrape_next("compute") is True
    assert lab.service(*TIMES) == (lab.now, lab.now, lab.now + 1800, "")


def test_order_stale_ones_first_then_those_that_waited_longest(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    lab.discover()
    for project, next_scrape_at in (("berlin", -10), ("dresden", -20), ("paris", 500)):
        lab.execute(
            "UPDATE project_services SET next_scrape_at = %s WHERE project_id = %s",
            lab.now + next_scrape_at,
            lab.project_id(project),
        )
    request_sync(lab.limes, "d-france", "p-paris")
    assert lab.scrape_all() == 3
    assert lab.compute.reports == ["paris", "dresden", "berlin"]


def test_a_service_that_left_the_plugin_is_left_alone(lab: Lab) -> None:
    lab.scrape_all()
    lab.execute("UPDATE resources SET is_known = %s WHERE name = 'ram'", False)
    before = all_rows(lab.engine)["project_resources"]
    lab.compute.default_quota = {"ram": 77}
    lab.clock.advance(1800)
    lab.scrape_all()
    assert all_rows(lab.engine)["project_resources"] == before


def test_the_wanted_quota_of_a_bursting_project_is_what_it_may_use(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab(catalog_options={"burst_multiplier": 0.5})
    lab.discover()
    lab.execute("UPDATE projects SET has_bursting = %s WHERE name = 'berlin'", True)
    lab.compute.default_quota = {"cores": 8, "ram": 0}
    lab.scrape_all()
    assert lab.service("next_push_at") == (lab.now,)
    assert lab.service("next_push_at", project="dresden") == (None,)
    lab.compute.quota["berlin"] = {"cores": 12}
    request_sync(lab.limes, "d-germany", "p-berlin")
    lab.scrape_all()
    assert lab.service("next_push_at") == (None,)


def test_a_scrape_that_outlived_its_lease_writes_nothing(lab: Lab) -> None:
    results = []

    def another_collector_meanwhile() -> None:
        lab.compute.during = lambda: None
        lab.clock.advance(301)
        lab.compute.usage["berlin"] = {"cores": {"any": AZUsage(7)}}
        results.append(lab.scrape_next("compute"))
        lab.compute.usage["berlin"] = {"cores": {"any": AZUsage(1)}}

    lab.compute.during = another_collector_meanwhile
    lab.scrape_next("compute")
    assert results == [True]
    assert ("cores", "any", 7, None, "") in lab.rows(USAGE)
    assert lab.service(*TIMES) == (lab.now, lab.now, lab.now + 1800, "")


def test_a_project_that_vanishes_during_its_scrape_leaves_nothing(lab: Lab) -> None:
    lab.compute.during = lambda: lab.execute("DELETE FROM projects WHERE name = 'berlin'")
    assert lab.scrape_next("compute") is True
    assert lab.rows("SELECT COUNT(*) FROM project_resources") == [(0,)]


@pytest.mark.parametrize("is_asked_for", [False, True])
def test_a_collector_that_dies_in_the_middle_costs_a_lease_and_nothing_else(lab: Lab, is_asked_for: bool) -> None:
    class Killed(BaseException):
        pass

    def die() -> Never:
        raise Killed

    lab.compute.during = die
    with pytest.raises(Killed):
        lab.scrape_next("compute")
    lab.compute.during = lambda: None
    if is_asked_for:
        assert lab.rescrape() is None
    lab.clock.advance(300)
    assert lab.scrape_next("compute") is True
    assert lab.service("scraped_at") == (lab.now,)


def test_next_times_are_spread(lab: Lab) -> None:
    class Spread(NoJitter):
        def spread(self, seconds: Any) -> Any:
            return seconds * 1.07

    lab.jitter = Spread()
    lab.scrape_next("compute")
    scraped = lab.rows("SELECT next_scrape_at FROM project_services WHERE scraped_at IS NOT NULL")
    assert scraped == [(pytest.approx(lab.now + 1926),)]


def test_which_quotas_the_backend_accepts(lab: Lab) -> None:
    """They are kept as they were last reported, also where nothing else has changed."""
    bounds = (
        "SELECT r.name, pr.min_backend_quota, pr.max_backend_quota FROM project_resources pr"
        " JOIN resources r ON r.id = pr.resource_id"
    )
    for reported in ({"cores": (5, 20)}, {"cores": (None, 0), "ram": (1024, None)}, {}):
        lab.compute.bounds = reported
        assert lab.scrape_next("compute") is True
        stored = {name: (low, high) for name, low, high in lab.rows(bounds)}
        assert stored == {"cores": (None, None), "gpus": (None, None), "ram": (None, None), **reported}
        lab.clock.advance(1800)
