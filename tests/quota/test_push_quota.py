"""Quota reaches the backends, whatever happens in between."""

import threading
from collections.abc import Mapping, Sequence
from typing import Never

import pytest
from msgspec import structs

from limes.app.context import Limes, PushQuota
from limes.backends import BackendError, ProjectInfo
from limes.projects import tasks
from limes.projects.scope import find_project
from limes.quota.changes import ALL_PERMISSIONS, QuotaChange, QuotaOutcome
from limes.quota.push_quota import push_quota
from limes.quota.set_quota import set_quotas
from tests.collector.lab import Lab, once
from tests.growth.in_lab import set_domain_quota
from tests.support.rows import all_rows, changes
from tests.support.statements import count_statements

pytestmark = pytest.mark.sql

MARK = ("quota_desynced_at", "next_push_at", "push_failures", "push_error")
SYNCED = (None, None, 0, "")
CORES = ("compute", "cores")


@pytest.fixture
def scraped(lab: Lab) -> Lab:
    """Everything was scraped, and the backends have the wanted quota."""
    lab.scrape_all()
    lab.scrape_all("volume")
    assert lab.rows("SELECT COUNT(*) FROM project_services WHERE next_push_at IS NOT NULL") == [(0,)]
    lab.clock.advance(60)
    return lab


def test_nothing_to_do(scraped: Lab) -> None:
    before = all_rows(scraped.engine)
    assert scraped.push_next("compute") is None
    assert push_quota(scraped.limes, scraped.project_id(), ["compute", "volume"]) == []
    assert push_quota(scraped.limes, scraped.project_id(), []) == []
    assert changes(before, all_rows(scraped.engine)) == {}
    assert scraped.compute.written == []


def test_the_complete_quota_of_the_service_is_written(scraped: Lab) -> None:
    scraped.set_quota("cores", 20)
    before = all_rows(scraped.engine)
    assert scraped.push_next("compute") is True
    assert scraped.compute.written == [("berlin", {"cores": 20, "ram": 0})]
    assert scraped.quotas() == {"cores": (20, 20), "ram": (0, 0), "gpus": (None, None), "capacity": (0, 0)}
    assert scraped.service(*MARK) == SYNCED
    changed = changes(before, all_rows(scraped.engine))
    assert {table: len(come) for table, (_, come) in changed.items()} == {"project_resources": 1, "project_services": 1}
    assert scraped.push_next("compute") is None


def test_a_request_writes_only_the_services_that_it_changed(scraped: Lab) -> None:
    scraped.set_quota("cores", 20)
    scraped.set_quota("capacity", 5)
    scraped.set_quota("cores", 7, project="dresden")
    assert push_quota(scraped.limes, scraped.project_id(), ["compute"]) == []
    assert (scraped.compute.written, scraped.volume.written) == ([("berlin", {"cores": 20, "ram": 0})], [])
    assert scraped.service("next_push_at", service="volume") == (scraped.now,)
    assert scraped.service("next_push_at", project="dresden") == (scraped.now,)


def test_a_change_is_left_to_the_process_that_answers(scraped: Lab) -> None:
    """A collector that polls between its commit and its push would still be writing when the user has the answer."""
    set_domain_quota(scraped, 100)
    project = find_project(scraped.engine, "d-germany", "p-berlin")
    polled: list[bool | None] = []

    def set_cores(cores: int, push: PushQuota) -> QuotaOutcome:
        limes = structs.replace(scraped.limes, push_quota=push, lease=40.0)
        return set_quotas(limes, project, [QuotaChange(CORES, cores)], {CORES: ALL_PERMISSIONS}, dry_run=False)

    def poll_and_push(limes: Limes, project_id: int, services: Sequence[str]) -> Sequence[str]:
        polled.append(scraped.push_next("compute"))
        return push_quota(limes, project_id, services)

    assert set_cores(20, poll_and_push).backend_errors == []
    assert (polled, scraped.compute.written) == ([None], [("berlin", {"cores": 20, "ram": 0})])
    assert scraped.service(*MARK) == SYNCED
    # it may die before it pushes
    set_cores(30, lambda limes, project_id, services: ())
    assert scraped.service(*MARK) == (scraped.now, scraped.now + 40, 0, "")
    assert scraped.push_next("compute") is None
    scraped.clock.advance(40)
    assert scraped.push_next("compute") is True
    assert scraped.compute.quota["berlin"]["cores"] == 30


def test_a_fixed_number_of_statements(scraped: Lab) -> None:
    scraped.set_quota("cores", 20)
    one = count_statements(scraped.engine, lambda: scraped.push_next("compute"))
    scraped.set_quota("cores", 21)
    scraped.set_quota("ram", 5)
    assert count_statements(scraped.engine, lambda: scraped.push_next("compute")) == one
    # the claim, its lease, and what to write; two locks, and the writes, which PostgreSQL gets together
    assert one == (6 if scraped.engine.dialect == "postgresql" else 7)


def test_a_failed_write_is_tried_again_after_growing_pauses(scraped: Lab) -> None:
    scraped.set_quota("cores", 20)
    scraped.compute.error = BackendError("no answer")
    marked = scraped.now
    for failures, pause in enumerate([30, 60, 120, 240, 480, 900, 900], start=1):
        assert scraped.push_next("compute") is False
        error = "service compute: no answer"
        assert scraped.service(*MARK) == (marked, scraped.now + pause, failures, error)
        assert scraped.push_next("compute") is None
        scraped.clock.advance(pause)
    scraped.compute.error = None
    assert scraped.push_next("compute") is True
    assert scraped.service(*MARK) == SYNCED


def test_a_request_gets_one_line_for_each_backend_that_failed(scraped: Lab) -> None:
    scraped.set_quota("cores", 20)
    scraped.set_quota("capacity", 5)
    scraped.compute.error = BackendError("no answer")
    errors = push_quota(scraped.limes, scraped.project_id(), ["compute", "volume"])
    assert errors == ["service compute: no answer"]
    assert scraped.volume.written == [("berlin", {"capacity": 5})]
    assert scraped.service(*MARK, service="volume") == SYNCED


def test_a_change_during_a_write_is_written_afterwards(scraped: Lab) -> None:
    scraped.set_quota("cores", 20)
    scraped.compute.during = once(lambda: scraped.set_quota("cores", 30))
    assert scraped.push_next("compute") is True
    assert scraped.service("next_push_at") == (scraped.now,)
    assert scraped.push_next("compute") is True
    assert scraped.compute.quota["berlin"]["cores"] == 30
    assert scraped.quotas()["cores"] == (30, 30)
    assert scraped.service(*MARK) == SYNCED


def test_nobody_writes_a_newer_quota_while_an_older_one_is_being_written(
    scraped: Lab, caplog: pytest.LogCaptureFixture
) -> None:
    """Else the older one might land last."""
    scraped.set_quota("cores", 20)
    answers = []

    def newer() -> None:
        scraped.clock.advance(1)
        scraped.set_quota("cores", 30)
        answers.append(push_quota(scraped.limes, scraped.project_id(), ["compute"]))
        answers.append(scraped.push_next("compute"))

    scraped.compute.during = once(newer)
    assert scraped.push_next("compute") is True
    assert answers == [[], None]
    assert [quotas["cores"] for _, quotas in scraped.compute.written] == [20]
    assert scraped.service("next_push_at", "push_claimed_until") == (scraped.now, None)
    assert scraped.push_next("compute") is True
    assert [quotas["cores"] for _, quotas in scraped.compute.written] == [20, 30]
    assert scraped.service(*MARK) == SYNCED
    assert "lease" not in caplog.text, "nothing unusual has happened"


def test_a_slow_writer_that_overwrites_a_newer_quota_leaves_a_mark_behind(scraped: Lab) -> None:
    """The first writer is told 20, sleeps beyond its lease, and lands after the second one, which writes 30."""
    scraped.set_quota("cores", 20)

    def meanwhile() -> None:
        scraped.set_quota("cores", 30)
        scraped.clock.advance(301)
        assert scraped.push_next("compute") is True
        assert scraped.service(*MARK) == SYNCED

    scraped.compute.during = once(meanwhile)
    scraped.push_next("compute")
    assert [quotas["cores"] for _, quotas in scraped.compute.written] == [30, 20]
    assert scraped.service("next_push_at") == (scraped.now,)
    assert scraped.push_next("compute") is True
    assert scraped.compute.quota["berlin"]["cores"] == 30
    assert scraped.service(*MARK) == SYNCED


def test_a_writer_that_dies_loses_nothing(scraped: Lab) -> None:
    class Killed(BaseException):
        pass

    def die() -> Never:
        raise Killed

    scraped.set_quota("cores", 20)
    scraped.compute.during = once(die)
    with pytest.raises(Killed):
        scraped.push_next("compute")
    assert scraped.push_next("compute") is None
    scraped.clock.advance(300)
    assert scraped.push_next("compute") is True
    assert scraped.compute.written == [("berlin", {"cores": 20, "ram": 0})]
    assert scraped.service(*MARK) == SYNCED


def test_a_resource_that_was_never_scraped_is_scraped_before_it_is_written(scraped: Lab) -> None:
    """A new resource's backend quota may be one to approve, so nobody writes 0 into it unseen."""
    scraped.execute("DELETE FROM project_resources WHERE resource_id = (SELECT id FROM resources WHERE name = 'cores')")
    scraped.compute.quota["berlin"] = {"cores": 8, "ram": 0}
    scraped.set_quota("ram", 64)
    assert scraped.push_next("compute") is True
    assert scraped.compute.written == []
    assert scraped.service("is_stale", "push_error") == (True, "waits for a scrape")
    scraped.scrape_next("compute")
    assert scraped.quotas()["cores"] == (8, 8)
    scraped.clock.advance(30)
    assert scraped.push_next("compute") is True
    assert scraped.compute.written == [("berlin", {"cores": 8, "ram": 64})]


def test_a_project_that_vanishes_during_the_write(scraped: Lab) -> None:
    scraped.set_quota("cores", 20)
    scraped.compute.during = once(lambda: scraped.execute("DELETE FROM projects WHERE name = 'berlin'"))
    assert scraped.push_next("compute") is True
    assert scraped.rows("SELECT COUNT(*) FROM projects WHERE name = 'berlin'") == [(0,)]


def test_a_late_writer_between_write_and_record_is_written_over(scraped: Lab) -> None:
    """The first writer has lost its lease; its write arrives when the second one has written, and not yet noted so."""
    lab = scraped
    lab.set_quota("cores", 5)
    hangs, goes_on = threading.Event(), threading.Event()

    def hang() -> None:
        hangs.set()
        assert goes_on.wait(60)

    lab.compute.during = once(hang)
    first = threading.Thread(target=lambda: lab.push_next("compute"))
    first.start()
    assert hangs.wait(60)
    lab.clock.advance(301)
    lab.set_quota("cores", 6)
    write = lab.compute.set_quota

    def write_and_be_late(project: ProjectInfo, quotas: Mapping[str, int]) -> None:
        write(project, quotas)
        lab.compute.set_quota = write
        goes_on.set()
        first.join(60)

    lab.compute.set_quota = write_and_be_late
    assert lab.push_next("compute") is True
    assert [quotas["cores"] for _, quotas in lab.compute.written] == [6, 5]
    assert lab.service("quota_desynced_at") != (None,)
    lab.clock.advance(1)
    assert lab.push_next("compute") is True
    assert lab.compute.quota["berlin"]["cores"] == 6
    assert lab.service("quota_desynced_at") == (None,)


def test_a_late_failure_takes_nothing_from_the_present_writer(scraped: Lab) -> None:
    lab = scraped
    lab.set_quota("cores", 5)

    def fail_late() -> Never:
        lab.clock.advance(301)
        lab.compute.during = lambda: None
        claims = lab.engine.atomic(
            lambda: tasks.claim_push_of(
                lab.engine, lab.project_id(), ["compute"], lab.now, lab.now + 300, lab.now + 9999
            )
        )
        assert len(claims) == 1
        raise BackendError("too late")

    lab.compute.during = fail_late
    assert lab.push_next("compute") is False
    assert lab.service("push_claimed_until", "push_failures", "push_error") == (lab.now + 300, 0, "")
    assert lab.push_next("compute") is None  # the present writer has its time
    lab.clock.advance(301)
    assert lab.push_next("compute") is True
    assert lab.service(*MARK) == SYNCED
