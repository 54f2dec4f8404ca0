"""The tests that every plugin must pass, as pytest classes to inherit from. docs/plugins.md shows how.

A subclass named `Test...` gives the fixtures that the methods take as arguments:

- `backend`: the object under test, made from `Plugin` and params through `limes.backends.loader.load`
- `service`, a `ServiceDef`, for quota plugins: what `backend.describe()` answers
- `catalog`: a `limes.catalog.catalog.Catalog` with the availability zones and with the services that are reported on
- `project` and `other_project`: two projects that the backend knows; `new_project`: one that it has never heard of
- `broken_backend`: an object of the same class whose backend cannot be reached or answers nonsense
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from limes.backends import base, calls
from limes.catalog.catalog import Catalog, ServiceDef
from limes.kernel.errors import BackendError

T = TypeVar("T")

_THREADS = 4


def _in_threads(call: Callable[[], T]) -> list[T]:
    with ThreadPoolExecutor(_THREADS) as pool:
        return [future.result(timeout=60) for future in [pool.submit(call) for _ in range(2 * _THREADS)]]


def _assert_fails(call: Callable[[], object]) -> None:
    message = None
    try:
        call()
    except BackendError as error:
        message = str(error)
    assert message is not None, "expected a BackendError"
    assert message.strip(), "the error says nothing"
    assert "\n" not in message, "the error is longer than a line"


def _quotas(report: base.UsageReport) -> dict[str, base.BackendQuota]:
    return {name: resource.quota for name, resource in report.resources.items() if resource.quota is not None}


class QuotaBackendContract:
    """What holds for every `QuotaBackend`."""

    def test_describes_itself_always_in_the_same_way(self, backend: base.QuotaBackend, service: ServiceDef) -> None:
        assert service.resources
        assert all(name == resource.name for name, resource in service.resources.items())
        assert backend.describe() == service == backend.describe()

    def test_describes_itself_without_its_backend(self, broken_backend: base.QuotaBackend) -> None:
        assert broken_backend.describe().resources

    def test_reports_every_resource(
        self, backend: base.QuotaBackend, service: ServiceDef, catalog: Catalog, project: base.ProjectInfo
    ) -> None:
        """The report passes validation, and has nothing that was not declared."""
        assert set(backend.report_usage(project).resources) == set(service.resources)
        calls.report_usage(backend, service, project, catalog)

    def test_reading_changes_nothing(
        self, backend: base.QuotaBackend, service: ServiceDef, catalog: Catalog, project: base.ProjectInfo
    ) -> None:
        first = calls.report_usage(backend, service, project, catalog)
        assert calls.report_usage(backend, service, project, catalog) == first

    def test_a_new_project_uses_nothing(
        self, backend: base.QuotaBackend, service: ServiceDef, catalog: Catalog, new_project: base.ProjectInfo
    ) -> None:
        report = calls.report_usage(backend, service, new_project, catalog)
        assert {az.usage for resource in report.resources.values() for az in resource.per_az.values()} == {0}

    def test_quota_is_in_force_after_it_was_set(
        self,
        backend: base.QuotaBackend,
        service: ServiceDef,
        catalog: Catalog,
        project: base.ProjectInfo,
        other_project: base.ProjectInfo,
    ) -> None:
        """What was set is reported, also if it is set twice, lower, or to 0; other projects keep theirs."""
        others = _quotas(calls.report_usage(backend, service, other_project, catalog))
        names = [name for name, resource in service.resources.items() if resource.tracks_quota]
        higher = {name: 1000 + position for position, name in enumerate(names)}
        lower = {name: 500 + position for position, name in enumerate(names)}
        for quotas in (higher, higher, lower, dict.fromkeys(names, 0), higher):
            calls.set_quota(backend, service, project, quotas)
            assert _quotas(calls.report_usage(backend, service, project, catalog)) == quotas
        assert _quotas(calls.report_usage(backend, service, other_project, catalog)) == others

    def test_quota_of_a_new_project(
        self, backend: base.QuotaBackend, service: ServiceDef, catalog: Catalog, new_project: base.ProjectInfo
    ) -> None:
        quotas = {name: 7 for name, resource in service.resources.items() if resource.tracks_quota}
        calls.set_quota(backend, service, new_project, quotas)
        assert _quotas(calls.report_usage(backend, service, new_project, catalog)) == quotas

    def test_works_in_many_threads(
        self, backend: base.QuotaBackend, service: ServiceDef, catalog: Catalog, project: base.ProjectInfo
    ) -> None:
        reports = _in_threads(lambda: calls.report_usage(backend, service, project, catalog))
        assert all(report == reports[0] for report in reports)

    def test_failures_are_errors(
        self, broken_backend: base.QuotaBackend, catalog: Catalog, project: base.ProjectInfo
    ) -> None:
        """A backend that does not answer is a `BackendError` of one line, and not a report of zeros."""
        service = broken_backend.describe()
        _assert_fails(lambda: calls.report_usage(broken_backend, service, project, catalog))
        quotas = {name: 1 for name, resource in service.resources.items() if resource.tracks_quota}
        if quotas:
            _assert_fails(lambda: calls.set_quota(broken_backend, service, project, quotas))


class CapacityBackendContract:
    """What holds for every `CapacityBackend`."""

    def test_reports_capacity(self, backend: base.CapacityBackend, catalog: Catalog) -> None:
        """The report passes validation, and says something of a configured resource."""
        report = calls.report_capacity(backend, "under-test", catalog)
        assert any(report.services.values())

    def test_reading_changes_nothing(self, backend: base.CapacityBackend, catalog: Catalog) -> None:
        first, *others = _in_threads(lambda: calls.report_capacity(backend, "under-test", catalog))
        assert all(another == first for another in others)


class BrokenCapacityContract:
    """What holds for a `CapacityBackend` that asks something outside of its configuration."""

    def test_failures_are_errors(self, broken_backend: base.CapacityBackend, catalog: Catalog) -> None:
        """A backend that does not answer is a `BackendError` of one line, and not an empty report."""
        _assert_fails(lambda: calls.report_capacity(broken_backend, "under-test", catalog))


class DiscoveryBackendContract:
    """What holds for every `DiscoveryBackend`."""

    def test_lists_domains_and_projects(self, backend: base.DiscoveryBackend) -> None:
        """There is something, ids are unique, and every project has a parent in its domain."""
        domains = calls.list_domains(backend, None, None)
        assert domains
        ids: list[str] = []
        for domain in domains:
            projects = calls.list_projects(backend, domain)
            known = {domain.id, *(project.id for project in projects)}
            assert all(project.parent_id in known for project in projects)
            ids += [project.id for project in projects]
        assert len(set(ids)) == len(ids) > 0

    def test_lists_the_same_in_many_threads(self, backend: base.DiscoveryBackend) -> None:

        def everything() -> set[base.DomainInfo | base.ProjectInfo]:
            domains: Iterable[base.DomainInfo] = calls.list_domains(backend, None, None)
            return {*domains, *(project for domain in domains for project in calls.list_projects(backend, domain))}

        first, *others = _in_threads(everything)
        assert all(other == first for other in others)

    def test_an_unknown_domain_has_no_projects(self, backend: base.DiscoveryBackend) -> None:
        """For a domain that does not exist there is an error or nothing, and never the projects of another."""
        nowhere = base.DomainInfo("no-such-domain", "nowhere")
        try:
            projects = calls.list_projects(backend, nowhere)
        except BackendError:
            return
        assert projects == []


class BrokenDiscoveryContract:
    """What holds for a `DiscoveryBackend` that asks something outside of its configuration."""

    def test_failures_are_errors(self, broken_backend: base.DiscoveryBackend) -> None:
        """A backend that does not answer is a `BackendError` of one line, and not an empty list."""
        _assert_fails(lambda: calls.list_domains(broken_backend, None, None))
        _assert_fails(lambda: calls.list_projects(broken_backend, base.DomainInfo("d", "domain")))
