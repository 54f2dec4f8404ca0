"""The only way to call a backend: every failure comes out as a `BackendError`, every report is validated."""

import contextlib
import logging
import re
from collections.abc import Collection, Iterator, Mapping
from typing import TypeVar

import requests
from keystoneauth1.exceptions import ClientException

from limes.backends.base import CapacityBackend, DiscoveryBackend, QuotaBackend
from limes.backends.demand import NO_DEMAND, Demand
from limes.backends.reports import CapacityReport, DomainInfo, ProjectInfo, UsageReport
from limes.backends.validation import validate_capacity, validate_usage
from limes.core.catalog import Catalog, Ref, ServiceDef
from limes.errors import BackendError, ConfigError

log = logging.getLogger(__name__)

T = TypeVar("T", DomainInfo, ProjectInfo)

_LONGEST = 1000
"""Characters of an error that are kept."""


def describe(backend: QuotaBackend, service_type: str) -> ServiceDef:
    """What the service is. Raises `BackendError`: some know it only from their backend."""
    with _as_backend_error(f"service {service_type}"):
        try:
            return backend.describe()
        except ConfigError as error:
            raise BackendError("; ".join(error.problems)) from error


def report_usage(backend: QuotaBackend, service: ServiceDef, project: ProjectInfo, catalog: Catalog) -> UsageReport:
    """The validated usage of a project. Raises `BackendError`."""
    with _as_backend_error(f"service {service.type}", project):
        return validate_usage(backend.report_usage(project), service, catalog)


def set_quota(backend: QuotaBackend, service: ServiceDef, project: ProjectInfo, quotas: Mapping[str, int]) -> None:
    """Writes the quotas of all quota-tracking resources. Raises `BackendError`."""
    with _as_backend_error(f"service {service.type}", project):
        backend.set_quota(project, dict(quotas))


def needs_demand(backend: CapacityBackend, capacitor: str) -> Collection[Ref]:
    """The resources whose demand a capacitor needs to know. Raises `BackendError`."""
    with _as_backend_error(f"capacitor {capacitor}"):
        return tuple(backend.needs_demand())


def report_capacity(
    backend: CapacityBackend, capacitor: str, catalog: Catalog, demand: Demand = NO_DEMAND
) -> CapacityReport:
    """The validated capacity. `demand` is that for the resources of `needs_demand`. Raises `BackendError`."""
    with _as_backend_error(f"capacitor {capacitor}"):
        report = backend.report_capacity_for(demand) if demand else backend.report_capacity()
        return validate_capacity(report, capacitor, catalog)


def list_domains(
    backend: DiscoveryBackend, except_domains: re.Pattern[str] | None, only_domains: re.Pattern[str] | None
) -> list[DomainInfo]:
    """All domains that the two patterns let through: they match anywhere in the name, and `except_domains` wins.

    Raises `BackendError`.
    """
    with _as_backend_error("while listing domains"):
        domains = _unique(list(backend.list_domains()), DomainInfo)
    return [
        domain
        for domain in domains
        if not (except_domains and except_domains.search(domain.name))
        and (only_domains is None or only_domains.search(domain.name))
    ]


def list_projects(backend: DiscoveryBackend, domain: DomainInfo) -> list[ProjectInfo]:
    """All projects of a domain. Raises `BackendError`."""
    where = f'while listing projects in domain "{domain.name}"'
    with _as_backend_error(where):
        projects = _unique(list(backend.list_projects(domain)), ProjectInfo)
    for project in projects:
        if not _is_text(project.parent_id):
            raise BackendError(f"{where}: the project {project.id} has no parent_id")
        if project.domain.id != domain.id:
            raise BackendError(f"{where}: got the project {project.id} of the domain {project.domain.id}")
    return projects


def _unique(found: list[T], expected: type[T]) -> list[T]:
    seen: set[str] = set()
    for item in found:
        if not isinstance(item, expected) or not _is_text(item.id) or not _is_text(item.name):
            raise BackendError(f"expected {expected.__name__} with id and name, got {item!r}")
        if item.id in seen:
            raise BackendError(f"the id {item.id} appears twice")
        seen.add(item.id)
    return found


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


@contextlib.contextmanager
def _as_backend_error(where: str, project: ProjectInfo | None = None) -> Iterator[None]:
    """What goes wrong with one `project` reads the same for all: whoever lists errors can count how many have it."""

    def tell(error: Exception) -> str:
        text = _one_line(error)
        if project is None:
            return text
        return re.sub(rf"(?<![0-9A-Za-z-]){re.escape(project.id)}(?![\w-])", "{project_id}", text)

    try:
        yield
    except BackendError as error:
        text = tell(error)
        raise type(error)(text if text.startswith(where) else f"{where}: {text}") from error
    except (ClientException, requests.RequestException) as error:
        raise BackendError(f"{where}: {tell(error)}") from error
    except Exception as error:
        log.exception("%s: the plugin failed in a way that its contract does not allow", where)
        raise BackendError(f"{where}: internal error of the plugin ({type(error).__name__})") from error


def _one_line(error: Exception) -> str:
    """What an error says, fit to be stored and shown: a backend may have put anything into it."""
    text = " ".join(str(error).split()) or type(error).__name__
    text = re.split(r": HTTPS?ConnectionPool\(", text)[0]  # what follows says the same again, in terms of urllib3
    text = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[:_LONGEST])
    return text if len(text) < _LONGEST else text[: _LONGEST - 3] + "..."
