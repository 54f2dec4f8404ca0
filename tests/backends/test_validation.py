"""What is checked of a report, and what an answer becomes."""

import logging
import re
from typing import Any, Never

import keystoneauth1.exceptions
import pytest

from limes.backends import (
    UNLIMITED,
    AZCapacity,
    AZUsage,
    BackendError,
    CapacityReport,
    DiscoveryBackend,
    DomainInfo,
    ProjectInfo,
    QuotaBackend,
    ResourceDef,
    ResourceUsage,
    ServiceDef,
    UsageReport,
    calls,
)
from limes.backends.base import Unlimited
from limes.backends.validation import validate_capacity, validate_usage
from limes.catalog.catalog import Catalog
from limes.kernel.units import MAX_AMOUNT

SERVICE = ServiceDef(
    "compute", "compute", {"cores": ResourceDef("cores"), "disks": ResourceDef("disks", tracks_quota=False)}
)
CATALOG = Catalog(("az-one", "az-two"), [SERVICE])
DISKS = ResourceUsage({})


def cores(*, quota: Unlimited | float | None = 10, **per_az: Any) -> UsageReport:
    return UsageReport({"cores": ResourceUsage(per_az.get("per_az", {"any": AZUsage(1)}), quota), "disks": DISKS})


def test_azs_become_the_configured_ones() -> None:
    report = cores(
        quota=UNLIMITED,
        per_az={
            "az-two": AZUsage(1),
            "az-eight": AZUsage(2, 20, ({"id": "a"},)),
            "az-nine": AZUsage(3, None, ({"id": "b"},)),
            "unknown": AZUsage(4),
        },
    )
    assert validate_usage(report, SERVICE, CATALOG).resources["cores"] == ResourceUsage(
        {
            "any": AZUsage(0),
            "az-two": AZUsage(1),
            # where the physical usage is not known, the usage counts
            "unknown": AZUsage(9, 27, ({"id": "a"}, {"id": "b"})),
        },
        UNLIMITED,
    )


def test_undeclared_resources_are_dropped_with_a_log_line(caplog: pytest.LogCaptureFixture) -> None:
    report = UsageReport({**cores().resources, "ram": ResourceUsage({}, 5)})
    with caplog.at_level(logging.INFO):
        assert set(validate_usage(report, SERVICE, CATALOG).resources) == {"cores", "disks"}
    assert "service compute: the usage report has the resource 'ram'" in caplog.text


@pytest.mark.parametrize(
    ("report", "problem"),
    [
        ({}, "service compute: the report is a dict, expected a UsageReport"),
        (UsageReport({}), "service compute: the usage report lacks 'cores', 'disks'"),
        (UsageReport({"cores": 5, "disks": DISKS}), "resource cores: is a int, expected a ResourceUsage"),
        (cores(quota=None), "resource cores: the quota is missing"),
        (cores(quota=-1), "resource cores: the quota is -1, expected a whole number from 0"),
        (cores(quota=2.0), "the quota is 2.0"),
        (
            UsageReport({"cores": cores().resources["cores"], "disks": ResourceUsage({}, 5)}),
            "resource disks: has a quota, but was declared without one",
        ),
        (cores(per_az=[1]), "resource cores: per_az is a list, expected a mapping"),
        (cores(per_az={"": AZUsage(1)}), "resource cores: '' is not the name of an AZ"),
        (cores(per_az={"any": 1}), "resource cores, AZ any: expected a value of type AZUsage"),
        (cores(per_az={"az-one": AZUsage(-3)}), "resource cores, AZ az-one: the usage is -3"),
        (cores(per_az={"az-one": AZUsage(True)}), "the usage is True"),
        (cores(per_az={"az-one": AZUsage("5")}), "the usage is '5'"),
        (cores(per_az={"az-one": AZUsage(1, -1)}), "the physical usage is -1"),
        (cores(per_az={"az-one": AZUsage(1, None, ("x",))}), "the subresources are no sequence of mappings"),
        (cores(per_az={"az-one": AZUsage(1, None, ({"x": object()},))}), "the subresources cannot be written as JSON"),
    ],
)
def test_wrong_usage_reports_are_refused(report: dict[Any, Any] | UsageReport, problem: str) -> None:
    with pytest.raises(BackendError, match=re.escape(problem)):
        validate_usage(report, SERVICE, CATALOG)


def test_capacity_of_unknown_azs_is_summed_and_of_unknown_resources_dropped(caplog: pytest.LogCaptureFixture) -> None:
    report = CapacityReport(
        {
            "compute": {
                "cores": {
                    "az-one": AZCapacity(10, 3),
                    "az-eight": AZCapacity(5, 1, ({"name": "a"},)),
                    "az-nine": AZCapacity(6, None, ({"name": "b"},)),
                },
                "ram": {"any": AZCapacity(1)},
            },
            "storage": {"disks": {"any": AZCapacity(1)}},
        }
    )
    with caplog.at_level(logging.INFO):
        checked = validate_capacity(report, "nova", CATALOG)
    assert checked.services == {
        "compute": {
            "cores": {"az-one": AZCapacity(10, 3), "unknown": AZCapacity(11, None, ({"name": "a"}, {"name": "b"}))}
        }
    }
    assert "capacitor nova, resource compute/ram: is not configured" in caplog.text
    assert "capacitor nova, resource storage/disks: is not configured" in caplog.text


@pytest.mark.parametrize(
    ("per_az", "problem"),
    [
        ({"az-one": AZCapacity(-1)}, "resource compute/cores, AZ az-one: the capacity is -1"),
        ({"az-one": AZCapacity(1.5)}, "the capacity is 1.5"),
        ({"az-one": AZCapacity(1, -1)}, "the usage is -1"),
        ({"az-one": AZCapacity(1, 0, ({1: 2},))}, "the subcapacities cannot be written as JSON"),
        ({"az-one": AZUsage(1)}, "expected a value of type AZCapacity"),
        (5, "per_az is a int"),
    ],
)
def test_wrong_capacity_reports_are_refused(per_az: int | dict[str, Any], problem: str) -> None:
    with pytest.raises(BackendError, match=re.escape(problem)) as error:
        validate_capacity(CapacityReport({"compute": {"cores": per_az}}), "nova", CATALOG)
    assert str(error.value).startswith("capacitor nova")


def test_a_number_beyond_any_amount_in_a_detail_is_the_largest_amount() -> None:
    detail = {"name": "huge", "capacity": 10**20, "parts": [{"used": -(10**20)}, 7]}
    shown = {"name": "huge", "capacity": MAX_AMOUNT, "parts": [{"used": -MAX_AMOUNT}, 7]}
    capacity = CapacityReport({"compute": {"cores": {"az-one": AZCapacity(10**20, None, (detail,))}}})
    assert validate_capacity(capacity, "nova", CATALOG).services["compute"]["cores"] == {
        "az-one": AZCapacity(MAX_AMOUNT, None, (shown,))
    }
    usage = validate_usage(cores(per_az={"az-one": AZUsage(1, None, (detail,))}), SERVICE, CATALOG)
    assert usage.resources["cores"].per_az["az-one"].subresources == (shown,)


class Raising(QuotaBackend):
    def __init__(self, error: BackendError | keystoneauth1.exceptions.ConnectFailure | KeyError) -> None:
        self.error = error

    def describe(self) -> ServiceDef:
        return SERVICE

    def report_usage(self, project: ProjectInfo) -> Never:
        raise self.error

    def set_quota(self, project: ProjectInfo, quotas: Any) -> Never:
        raise self.error


@pytest.mark.parametrize("state", [None, "a\0b", "x" * 1_000_001, 5])
def test_a_state_that_cannot_be_kept(state: str | int | None) -> None:
    report = UsageReport({}, state)
    with pytest.raises(BackendError, match="the state is no text of up to 1000000 characters without NUL"):
        validate_usage(report, ServiceDef("compute", "compute", {}), CATALOG)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (BackendError("no quota record for p1,\n p11"), "service compute: no quota record for {project_id}, p11"),
        (keystoneauth1.exceptions.ConnectFailure("Unable to\nconnect"), "service compute: Unable to connect"),
        (KeyError("x"), "service compute: internal error of the plugin (KeyError)"),
    ],
)
def test_every_failure_is_a_backend_error_of_one_line(
    error: BackendError | keystoneauth1.exceptions.ConnectFailure | KeyError, message: str, project: ProjectInfo
) -> None:
    backend = Raising(error)
    for call in (
        lambda: calls.report_usage(backend, SERVICE, project, CATALOG),
        lambda: calls.set_quota(backend, SERVICE, project, {"cores": 1}),
    ):
        with pytest.raises(BackendError) as raised:
            call()
        assert str(raised.value) == message
        exactly = str(error) if not isinstance(error, KeyError) else "internal error of the plugin (KeyError)"
        assert raised.value.observed == exactly


class Listing(DiscoveryBackend):
    def __init__(self, names: list[Any], projects: list[Any] | tuple[Any, ...] = ()) -> None:
        self.domains = [DomainInfo(f"id-{name}", name) for name in names]
        self.projects = projects

    def list_domains(self) -> list[DomainInfo]:
        return self.domains

    def list_projects(self, domain: Any) -> list[Any] | tuple[Any, ...]:
        return self.projects


@pytest.mark.parametrize(
    ("except_domains", "only_domains", "expected"),
    [
        (None, None, ["Default", "sales", "sales-test", "test"]),
        ("test", None, ["Default", "sales"]),
        (None, "sales", ["sales", "sales-test"]),
        ("test", "sales", ["sales"]),
        ("^sales$", "s", ["sales-test", "test"]),
        (None, "nowhere", []),
    ],
)
def test_domains_are_chosen_by_name(except_domains: str | None, only_domains: str | None, expected: list[Any]) -> None:
    backend = Listing(["Default", "sales", "sales-test", "test"])
    patterns = [pattern and re.compile(pattern) for pattern in (except_domains, only_domains)]
    assert [domain.name for domain in calls.list_domains(backend, *patterns)] == expected


def test_wrong_lists_are_refused() -> None:
    domain = DomainInfo("d", "domain")
    project = ProjectInfo("p", "x", "d", domain)
    for projects, problem in (
        ([project, project], "the id p appears twice"),
        ([ProjectInfo("p", "x", "d", DomainInfo("e", "other"))], "got the project p of the domain e"),
        ([ProjectInfo("", "x", "d", domain)], "expected ProjectInfo with id and name"),
        ([{"id": "p"}], "expected ProjectInfo with id and name"),
        ([ProjectInfo("p", 5, "d", domain)], "expected ProjectInfo with id and name"),
        ([ProjectInfo("p", "x", None, domain)], "the project p has no parent_id"),
    ):
        with pytest.raises(BackendError, match='while listing projects in domain "domain": ' + re.escape(problem)):
            calls.list_projects(Listing([], projects), domain)


@pytest.mark.parametrize(
    ("cores_bounds", "disks_bounds", "problem"),
    [
        ((2, 1), (), "resource cores: no quota is from 2 to 1"),
        ((-1, None), (), "resource cores: the smallest quota is -1, expected a whole number"),
        ((None, "9"), (), "resource cores: the largest quota is '9', expected a whole number"),
        ((), (0, 0), "resource disks: has bounds of a quota that it does not have"),
    ],
)
def test_bounds_that_make_no_sense(cores_bounds: tuple[Any, ...], disks_bounds: tuple[Any, ...], problem: str) -> None:
    report = UsageReport(
        {"cores": ResourceUsage({}, 10, *cores_bounds), "disks": ResourceUsage({}, None, *disks_bounds)}
    )
    with pytest.raises(BackendError, match=re.escape(problem)):
        validate_usage(report, SERVICE, CATALOG)


def test_bounds_of_a_quota() -> None:
    report = UsageReport({"cores": ResourceUsage({}, 10, 0, 0), "disks": DISKS})
    found = validate_usage(report, SERVICE, CATALOG).resources["cores"]
    assert (found.min_quota, found.max_quota) == (0, 0)
