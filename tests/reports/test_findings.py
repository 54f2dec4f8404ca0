"""What a review found: each of these went wrong once."""

from functools import partial
from typing import Never

from limes.app.context import Limes
from limes.collector.discover import request_sync
from limes.projects.claims import run_if_due
from limes.quota.push_quota import push_quota
from tests.collector.lab import BERLIN, GERMANY, Lab, once


def test_a_sync_during_a_scrape_comes_after_it(lab: Lab) -> None:
    """Else a user who asks again and again would take each scrape's lease away, and none would ever be recorded."""

    def ask_again() -> None:
        request_sync(lab.limes, GERMANY.id, BERLIN.id)
        others = [lab.scrape_next("compute") for _ in range(2)]  # the other collector takes other projects
        assert others == [True, True]
        assert lab.compute.reports.count("berlin") == 1

    request_sync(lab.limes, GERMANY.id, BERLIN.id)
    lab.compute.during = once(ask_again)
    assert lab.scrape_next("compute") is True
    assert lab.service("scraped_at", "is_stale") == (lab.now, True)
    assert lab.scrape_next("compute") is True, "and now the one that was asked for meanwhile"
    assert lab.compute.reports.count("berlin") == 2
    assert bool(lab.service("is_stale")[0]) is False


def test_a_request_does_not_wait_for_one_slow_backend_after_the_other(lab: Lab) -> None:
    lab.scrape_all()
    lab.scrape_all("volume")
    lab.set_quota("cores", 20)
    lab.set_quota("capacity", 5)
    lab.compute.during = once(lambda: lab.clock.advance(100))
    errors = push_quota(lab.limes, lab.project_id(), ["compute", "volume"])
    assert errors == ["service volume: not written yet, as other backends took too long"]
    assert (len(lab.compute.written), lab.volume.written) == (1, [])
    assert lab.push_next("volume") is True, "the push job finds it due at once"
    assert lab.volume.written == [("berlin", {"capacity": 5})]


def test_a_bug_in_a_job_is_recorded_and_the_job_goes_on(lab: Lab) -> None:
    def work(limes: Limes) -> Never:
        raise ZeroDivisionError

    run = partial(run_if_due, lab.limes, "broken", work, 60)
    assert run() is False
    assert run() is None
    lab.clock.advance(61)
    assert run() is False
