"""Backend quota that somebody else changes: found, counted, and put right or left alone."""

from collections.abc import Callable, Mapping

import pytest

from limes.app.context import Telemetry
from limes.backends import UNLIMITED, AZUsage, BackendError, ProjectInfo, ResourceDef, ServiceDef, UsageReport
from limes.catalog.catalog import Catalog
from limes.collector.discover import request_sync
from tests.collector.lab import COMPUTE, VOLUME, Lab


class Notes(Telemetry):
    def __init__(self) -> None:
        self.found, self.repaired = [], []

    def drift_found(self, service_type: str) -> None:
        self.found.append(service_type)

    def drift_repaired(self, service_type: str) -> None:
        self.repaired.append(service_type)


def settled(lab: Lab) -> Lab:
    """The lab with the backend in sync: berlin has 8 cores, all others nothing."""
    lab.compute.quota["berlin"] = {"cores": 8}
    lab.scrape_all()
    lab.push_all()
    assert lab.rows("SELECT COUNT(*) FROM project_services WHERE quota_desynced_at IS NOT NULL") == [(0,)]
    lab.telemetry = lab.notes = Notes()
    lab.clock.advance(60)
    return lab


def look(lab: Lab, project: str = "p-berlin", domain: str = "d-germany") -> bool | None:
    request_sync(lab.limes, domain, project)
    return lab.scrape_next("compute")


def look_by_itself(lab: Lab) -> bool | None:
    """A scrape that nobody has asked for."""
    lab.execute("UPDATE project_services SET next_scrape_at = 0 WHERE id = %s", *lab.service("id"))
    return lab.scrape_next("compute")


def push(lab: Lab) -> bool | None:
    return lab.push_next("compute")


@pytest.fixture
def cloud(lab: Lab) -> Lab:
    return settled(lab)


def test_a_first_scrape_is_no_drift_whatever_the_backend_has(lab: Lab) -> None:
    lab.telemetry = lab.notes = Notes()
    lab.compute.default_quota = {"cores": 99}
    look(lab)
    assert lab.service("drifted_at", "quota_desynced_at") == (None, lab.now)
    assert lab.notes.found == []


def test_drift_is_found_once_and_repaired(cloud: Lab, caplog: pytest.LogCaptureFixture) -> None:
    cloud.compute.quota["berlin"] = {"cores": 99, "ram": 0}
    assert look(cloud) is True
    assert cloud.service("drifted_at", "quota_desynced_at") == (cloud.now, cloud.now)
    assert cloud.notes.found == ["compute"]
    assert "germany/berlin, service compute, was changed outside Limes: cores 8 -> 99; it is corrected" in caplog.text
    look(cloud)
    assert cloud.notes.found == ["compute"], "as long as it waits to be written, it is the same drift"
    cloud.clock.advance(5)
    assert push(cloud) is True
    assert cloud.notes.repaired == ["compute"]
    assert cloud.service("drifted_at", "pushed_at", "quota_desynced_at") == (None, cloud.now, None)
    assert cloud.compute.quota["berlin"]["cores"] == 8


def test_a_push_without_drift_repairs_nothing(cloud: Lab) -> None:
    cloud.set_quota("cores", 5)
    assert push(cloud) is True
    assert cloud.notes.repaired == []


def test_drift_is_left_alone_and_shown_if_not_authoritative(
    make_lab: Callable[..., Lab], caplog: pytest.LogCaptureFixture
) -> None:
    cloud = make_lab()
    cloud.discover()
    settled(cloud)
    cloud.authoritative = False
    cloud.compute.quota["berlin"] = {"cores": UNLIMITED, "ram": 0}
    found_at = cloud.now
    look_by_itself(cloud)
    cloud.clock.advance(10)
    look_by_itself(cloud)
    assert cloud.notes.found == ["compute"]
    assert cloud.service("drifted_at", "quota_desynced_at") == (found_at, None)
    assert push(cloud) is None
    assert "it is left alone" in caplog.text
    cloud.compute.quota["berlin"] = {"cores": 8, "ram": 0}
    look_by_itself(cloud)
    assert cloud.service("drifted_at") == (None,)


def test_our_own_changes_are_no_drift(cloud: Lab) -> None:
    """A quota that waits to be written, and one that is written while the backend is being asked."""
    cloud.set_quota("cores", 5)
    look(cloud)
    assert cloud.notes.found == []
    cloud.clock.advance(1)
    cloud.compute.usage["berlin"] = {"cores": {"any": AZUsage(1)}}
    report_usage = cloud.compute.report_usage

    def report_and_push(project: ProjectInfo) -> UsageReport:
        report = report_usage(project)
        cloud.compute.report_usage = report_usage
        assert push(cloud) is True
        return report

    cloud.compute.report_usage = report_and_push
    look(cloud)
    assert cloud.notes.found == []
    assert cloud.service("drifted_at") == (None,)


# -- backends that refuse a quota below usage


@pytest.fixture
def strict_cloud(make_lab: Callable[..., Lab]) -> Lab:
    """The backend of compute refuses to have less quota than usage, and says so in its description."""
    cloud = make_lab()
    resources = {**COMPUTE.resources, "cores": ResourceDef("cores", quota_at_least_usage=True)}
    cloud.catalog = Catalog(["az-one", "az-two"], [ServiceDef("compute", "compute", resources), VOLUME])
    cloud.discover()
    set_quota = cloud.compute.set_quota

    def refuse_below_usage(project: ProjectInfo, quotas: Mapping[str, int]) -> None:
        used = sum(az.usage for az in cloud.compute.usage.get(project.name, {}).get("cores", {}).values())
        if quotas["cores"] < used:
            raise BackendError(f"quota {quotas['cores']} is below usage {used}")
        set_quota(project, quotas)

    cloud.compute.set_quota = refuse_below_usage
    return cloud


def use(cloud: Lab, cores: int) -> None:
    cloud.compute.usage["berlin"] = {"cores": {"az-one": AZUsage(cores - 1), "az-two": AZUsage(1)}}


def test_the_floor_follows_the_usage_down(strict_cloud: Lab) -> None:
    cloud = strict_cloud
    use(cloud, 7)
    cloud.notes = Notes()
    cloud.compute.quota["berlin"] = {"cores": 20}
    look(cloud)
    assert push(cloud) is True
    assert cloud.quotas()["cores"] == (0, 7), "Limes wants 0, the backend takes no less than what is used"
    assert cloud.service("quota_desynced_at", "push_error") == (None, "")
    look(cloud)
    assert cloud.service("quota_desynced_at") == (None,), "what cannot be lower is not written again and again"
    use(cloud, 3)
    look(cloud)
    assert push(cloud) is True
    assert cloud.quotas()["cores"] == (0, 3)
    assert cloud.notes.found == [], "nobody else has changed anything"
    cloud.compute.usage["berlin"] = {}
    look(cloud)
    push(cloud)
    assert cloud.quotas()["cores"] == (0, 0)


def test_usage_that_grows_before_the_push_is_looked_at_again(strict_cloud: Lab) -> None:
    cloud = strict_cloud
    use(cloud, 7)
    cloud.notes = Notes()
    look(cloud)
    use(cloud, 9)
    assert push(cloud) is False
    assert cloud.service("push_error") == ("service compute: quota 7 is below usage 9",)
    assert cloud.service("is_stale") == (True,)
    assert cloud.scrape_next("compute") is True
    cloud.clock.advance(60)
    assert push(cloud) is True
    assert cloud.quotas()["cores"] == (0, 9)


def test_a_report_from_before_a_push_proves_no_drift(cloud: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The quota is raised and written, in the same second, after the backend has made its report."""
    make_report = cloud.compute.report_usage

    def report_late(project: ProjectInfo) -> UsageReport:
        report = make_report(project)
        cloud.set_quota("cores", 12)
        assert push(cloud) is True
        assert cloud.quotas()["cores"] == (12, 12)
        return report

    monkeypatch.setattr(cloud.compute, "report_usage", report_late)
    assert look(cloud) is True
    assert (cloud.service("drifted_at"), cloud.notes.found) == ((None,), [])
    assert cloud.rows("SELECT reason FROM quota_history WHERE reason = 'backend-drift'") == []
    monkeypatch.undo()
    push(cloud)  # the old report says that this has to be done once more
    look(cloud)
    assert (cloud.quotas()["cores"], cloud.compute.quota["berlin"]["cores"]) == ((12, 12), 12)
    assert cloud.service("drifted_at", "quota_desynced_at") == (None, None)
    assert cloud.notes.found == []
