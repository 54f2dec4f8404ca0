"""What `limes status` reads: lag, old figures, errors, claims, drift, audit events."""

from collections.abc import Callable

import pytest

from limes.backends import BackendError
from limes.collector.scrape_usage import claim_scrapes
from limes.reports.status import DistributionStatus, ServiceStatus, StatusReport, report_status
from tests.autogrow.in_lab import make_growing
from tests.collector.lab import Lab


@pytest.fixture
def report(lab: Lab) -> Callable[..., StatusReport]:
    return lambda: report_status(lab.engine, 7200, lab.now)


def of(found: StatusReport, service: str = "compute") -> ServiceStatus:
    return next(one for one in found.services if one.service == service)


def test_before_the_first_scrape_everything_is_due(lab: Lab, report: Callable[..., StatusReport]) -> None:
    lab.clock.advance(60)
    found = report()
    assert (of(found).projects, of(found).unscraped, of(found).due_scrapes, of(found).scrape_lag) == (3, 3, 3, 60)
    assert of(found).oldest_age is None
    assert [(one.name, one.stale) for one in found.capacitors] == [("nova", True)]
    assert found.problems == ["capacitor nova: its figures are missing or too old"]


def test_all_is_well(lab: Lab, report: Callable[..., StatusReport]) -> None:
    lab.scrape_all()
    lab.scrape_all("volume")
    lab.capacitors["nova"].capacity = {}
    lab.scrape_capacity()
    lab.clock.advance(600)
    found = report()
    assert found.problems == []
    assert (of(found).unscraped, of(found).stale, of(found).oldest_age, of(found).due_scrapes) == (0, 0, 600, 0)


def test_old_figures_errors_and_drift(lab: Lab, report: Callable[..., StatusReport]) -> None:
    lab.compute.quota["berlin"] = {"cores": 8}
    lab.scrape_all()
    lab.scrape_all("volume")
    lab.clock.advance(7201)
    lab.compute.error = BackendError("no answer")
    lab.scrape_all()
    lab.set_quota("cores", 5)
    lab.execute("UPDATE project_services SET push_error = 'refused' WHERE project_id = %s", lab.project_id())
    lab.execute("UPDATE project_services SET drifted_at = 1 WHERE project_id = %s", lab.project_id("paris"))
    lab.clock.advance(30)
    found = report()
    compute = of(found)
    assert (compute.stale, compute.scrape_errors, compute.push_errors, compute.drifted) == (3, 3, 1, 1)
    assert (compute.pending_pushes, compute.push_age) == (1, 30)
    assert [(one.task, one.service, one.message, one.projects) for one in found.errors] == [
        ("scrape-usage", "compute", "no answer", 3),
        ("push-quota", "compute", "refused", 1),
        ("push-quota", "volume", "refused", 1),
    ]
    assert "service compute: figures are too old in 3 of 3 projects" in found.problems
    assert "service compute: the last scrape failed in 3 of 3 projects" in found.problems
    assert "service compute: the backend quota was changed outside Limes in 1 of 3 projects" in found.problems


def test_claims_are_shown_until_they_end(lab: Lab, report: Callable[..., StatusReport]) -> None:
    claim_scrapes(lab.limes, "compute", 2)
    (lease,) = report().leases
    assert (lease.task, lease.service, lease.projects, lease.until) == ("scrape-usage", "compute", 2, lab.now + 300)
    lab.clock.advance(301)
    assert report().leases == []


def test_audit_events_that_wait(lab: Lab, report: Callable[..., StatusReport]) -> None:
    lab.execute(
        "INSERT INTO audit_outbox (at, sink, stream, event_id, document, tries, next_try_at, error)"
        " VALUES (%s, 'rabbitmq', 's', 'e', '{}', 0, 0, '')",
        lab.now - 1000,
    )
    found = report()
    assert [(one.sink, one.events, one.age) for one in found.audit] == [("rabbitmq", 1, 1000)]
    assert "audit: 1 events wait for rabbitmq, the oldest for 1000 s" in found.problems


def test_quota_that_follows_usage(make_lab: Callable[..., Lab]) -> None:
    """How the last computation of each resource went, and how late the next one is."""
    lab = make_growing(make_lab)
    lab.scrape_all()
    lab.capacitors["nova"].capacity = {}
    lab.scrape_capacity()
    lab.clock.advance(60)

    def read() -> StatusReport:
        return report_status(lab.engine, 7200, lab.now)

    assert read().distributions == [DistributionStatus("compute", "cores", None, 60, "")]
    lab.distribute_all()
    lab.clock.advance(5)
    assert read().distributions == [DistributionStatus("compute", "cores", 5, 0, "")]
    assert read().jobs == []
    lab.execute("UPDATE jobs SET error = 'no capacity'")
    assert read().problems == ["quota of compute/cores: no capacity"]
