"""What the collector does to quotas by itself leaves a dated reason in the history, and an event that names the job."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from limes.backends import AZUsage
from limes.collector.follow_configuration import check_consistency
from limes.quota.constraints import Constraint, ConstraintSet
from tests.collector.lab import DRESDEN, GERMANY, PARIS, Lab

CORES = ("compute", "cores")
DRIFT = "the backend quota was changed outside Limes"


@pytest.fixture
def make_audited(make_lab: Callable[..., Lab]) -> Callable[..., Lab]:
    """Makes a lab with these constraints in which everything was discovered."""

    def make(**constraints: Any) -> Lab:
        lab = make_lab(constraints=ConstraintSet(**constraints), sinks=("log",))
        lab.discover()
        return lab

    return make


@pytest.fixture
def lab(make_audited: Callable[..., Lab]) -> Lab:
    return make_audited()


def history(lab: Lab) -> list[tuple[Any, ...]]:
    return lab.rows(
        "SELECT at, domain_uuid, project_uuid, service_type, resource_name, what, old, new, reason, detail,"
        " initiator_id, initiator_name FROM quota_history ORDER BY number"
    )


def events(lab: Any) -> list[tuple[Any, Any, Any, Any]]:
    found = []
    for (document,) in lab.rows("SELECT document FROM audit_outbox ORDER BY number"):
        event = json.loads(document)
        (attachment,) = event["target"]["attachments"]
        target = (event["target"]["typeURI"], event["target"]["id"])
        assert event["initiator"]["typeURI"] == "service/resources/job"
        assert event["reason"]["reasonType"] == "limes"
        found.append((*target, event["reason"]["reasonCode"], json.loads(attachment["content"])))
    return found


def test_auto_approval(lab: Lab) -> None:
    lab.compute.quota["berlin"] = {"cores": 8}
    lab.compute.quota["dresden"] = {"cores": 7}
    assert lab.scrape_all() == 3
    assert history(lab) == [
        (lab.now, "d-germany", "p-berlin", *CORES, "quota", None, 8, "auto-approval", "", "", "limes")
    ]
    assert events(lab) == [
        ("service/compute/cores/quota", "p-berlin", "auto-approval", {"newQuota": 8, "reason": "auto-approval"})
    ]
    lab.clock.advance(3600)
    assert lab.scrape_all() == 3
    assert len(history(lab)) == len(events(lab)) == 1, "only what changes is told"


def test_a_constraint_of_a_project(make_audited: Callable[..., Lab], caplog: pytest.LogCaptureFixture) -> None:
    lab = make_audited(projects={"germany/berlin": {CORES: Constraint(minimum=20, maximum=30)}})
    lab.compute.quota["berlin"] = {"cores": 8}  # would be approved
    lab.scrape_all()
    row = (lab.now, "d-germany", "p-berlin", *CORES, "quota", None, 20, "constraint", "at least 20, at most 30")
    assert history(lab) == [(*row, "", "limes")]
    assert lab.quotas()["cores"] == (20, 8)
    assert lab.service("next_push_at") == (lab.now,)
    lab.set_quota("cores", 50)
    lab.clock.advance(3600)
    lab.scrape_all()
    assert history(lab)[1][6:10] == (50, 30, "constraint", "at least 20, at most 30")
    assert [one[3] for one in events(lab)] == [
        {"newQuota": 20, "reason": "constraint", "detail": "at least 20, at most 30"},
        {"oldQuota": 50, "newQuota": 30, "reason": "constraint", "detail": "at least 20, at most 30"},
    ]
    assert "AUDIT: quota of germany/berlin, compute/cores: 50 -> 30, as its constraint demands" in caplog.text


def test_a_constraint_of_a_domain(make_audited: Callable[..., Lab], caplog: pytest.LogCaptureFixture) -> None:
    lab = make_audited(domains={"germany": {CORES: Constraint(minimum=40), ("compute", "ram"): Constraint(maximum=9)}})
    first = (lab.now, "d-germany", "", *CORES, "quota", None, 40, "constraint", "at least 40", "", "limes")
    assert history(lab) == [first]
    lab.execute("UPDATE domain_resources SET quota = 39 WHERE quota = 40")
    check_consistency(lab.limes)
    check_consistency(lab.limes)
    assert [row[6:10] for row in history(lab)[1:]] == [(39, 40, "constraint", "at least 40")]
    assert [one[:2] for one in events(lab)] == [("service/compute/cores/quota", "d-germany")] * 2
    assert "AUDIT: domain germany, resource compute/cores: quota 39 -> 40, as its constraint demands" in caplog.text


def test_vanished_projects_and_domains(lab: Lab) -> None:
    lab.compute.quota.update({"berlin": {"cores": 8}, "dresden": {"cores": 8}, "paris": {"cores": 8}})
    lab.scrape_all()
    lab.execute(
        "UPDATE domain_resources SET quota = 3 WHERE domain_id = (SELECT id FROM domains WHERE name = 'france')"
    )
    before = len(history(lab))
    lab.keystone.found[GERMANY].remove(DRESDEN)
    lab.discover()
    assert [row[1:9] for row in history(lab)[before:]] == [
        ("d-germany", "p-dresden", *CORES, "quota", 8, None, "vanished")
    ]
    del lab.keystone.found[PARIS.domain]
    lab.discover()
    gone = [row[1:9] for row in history(lab)[before + 1 :]]
    assert gone[0] == ("d-france", "p-paris", *CORES, "quota", 8, None, "vanished")
    assert sorted((row[1], row[3], row[5]) for row in gone[1:]) == [
        ("", "capacity", 3),
        ("", "cores", 3),
        ("", "ram", 3),
    ]
    assert events(lab)[-1][2] == "vanished"
    assert len(events(lab)) == len(history(lab))


def test_nothing_is_written_for_a_scrape_whose_lease_is_lost(lab: Lab) -> None:
    lab.compute.quota["berlin"] = {"cores": 8}
    lab.compute.usage["berlin"] = {"cores": {"az-one": AZUsage(1)}}
    lab.compute.during = lambda: lab.execute("UPDATE project_services SET next_scrape_at = 1, scrape_claimed_until = 1")
    lab.scrape_next("compute")
    assert (history(lab), events(lab)) == ([], [])


def test_a_backend_that_was_changed_by_somebody_else(lab: Lab) -> None:
    lab.compute.quota["berlin"] = {"cores": 8}
    lab.scrape_all()
    before = len(events(lab))
    lab.clock.advance(3600)
    lab.compute.quota["berlin"] = {"cores": 9}
    lab.scrape_all()
    assert [row[:10] for row in history(lab)[1:]] == [
        (lab.now, "d-germany", "p-berlin", *CORES, "backend_quota", 9, 8, "backend-drift", DRIFT)
    ]
    assert lab.push_next("compute")
    assert lab.compute.quota["berlin"]["cores"] == 8
    assert len(events(lab)) == before, "the quota itself is what it was"
