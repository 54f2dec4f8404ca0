"""The only way to call a backend: every failure comes out as a `BackendError`, every report is validated."""

import contextlib
import logging
import re
from collections.abc import Collection, Iterator, Mapping
from typing import TypeVar

import requests
from keystoneauth1.exceptions import ClientException

from limes.backends import base, validation
from limes.catalog.catalog import Catalog, Ref, ServiceDef
from limes.kernel.calendar import render_time
from limes.kernel.errors import BackendError, ConfigError, Unavailable
from limes.kernel.redaction import redact

log = logging.getLogger(__name__)

T = TypeVar("T", base.DomainInfo, base.ProjectInfo)

_LONGEST = 1000
"""Characters of an error on one line."""
_LONGEST_OBSERVED = 4000
"""Characters that are kept of what a backend's error said."""


def describe(backend: base.QuotaBackend, service_type: str) -> ServiceDef:
    """Returns what the service is. Raises `BackendError`: some know it only from their backend."""
    with _as_backend_error(f"service {service_type}"):
        try:
            return backend.describe()
        except ConfigError as error:
            raise BackendError("; ".join(error.problems)) from error


def report_usage(
    backend: base.QuotaBackend, service: ServiceDef, project: base.ProjectInfo, catalog: Catalog
) -> base.UsageReport:
    """Returns the validated usage of a project. Raises `BackendError`."""
    with _as_backend_error(f"service {service.type}", project):
        return validation.validate_usage(backend.report_usage(project), service, catalog)


def set_quota(
    backend: base.QuotaBackend,
    service: ServiceDef,
    project: base.ProjectInfo,
    quotas: Mapping[str, int],
    azs: Mapping[str, Mapping[str, int]] | None = None,
) -> None:
    """Writes the quotas of all quota-tracking resources; `azs` is as in `set_quota_by_az`. Raises `BackendError`."""
    with _as_backend_error(f"service {service.type}", project):
        if azs:
            backend.set_quota_by_az(project, dict(quotas), azs)
        else:
            backend.set_quota(project, dict(quotas))


def needs_demand(backend: base.CapacityBackend, capacitor: str) -> Collection[Ref]:
    """Returns the resources whose demand a capacitor needs to know. Raises `BackendError`."""
    with _as_backend_error(f"capacitor {capacitor}"):
        return tuple(backend.needs_demand())


def report_capacity(
    backend: base.CapacityBackend, capacitor: str, catalog: Catalog, demand: base.Demand = base.NO_DEMAND
) -> base.CapacityReport:
    """Returns the validated capacity. `demand` is that for the resources of `needs_demand`. Raises `BackendError`."""
    with _as_backend_error(f"capacitor {capacitor}"):
        report = backend.report_capacity_for(demand) if demand else backend.report_capacity()
        return validation.validate_capacity(report, capacitor, catalog)


def list_domains(
    backend: base.DiscoveryBackend, except_domains: re.Pattern[str] | None, only_domains: re.Pattern[str] | None
) -> list[base.DomainInfo]:
    """Returns all domains that the two patterns admit. They match anywhere in the name, and `except_domains` wins.
    Raises `BackendError`."""
    with _as_backend_error("while listing domains"):
        domains = _unique(list(backend.list_domains()), base.DomainInfo)
    return [
        domain
        for domain in domains
        if not (except_domains and except_domains.search(domain.name))
        and (only_domains is None or only_domains.search(domain.name))
    ]


def list_projects(backend: base.DiscoveryBackend, domain: base.DomainInfo) -> list[base.ProjectInfo]:
    """Returns all projects of a domain. Raises `BackendError`."""
    where = f'while listing projects in domain "{domain.name}"'
    with _as_backend_error(where):
        projects = _unique(list(backend.list_projects(domain)), base.ProjectInfo)
    for project in projects:
        if not _is_text(project.parent_id):
            raise BackendError(f"{where}: the project {project.id} has no parent_id")
        if project.domain.id != domain.id:
            raise BackendError(f"{where}: got the project {project.id} of the domain {project.domain.id}")
    return projects


def _unique(items: list[T], expected: type[T]) -> list[T]:
    seen: set[str] = set()
    for item in items:
        if not isinstance(item, expected) or not _is_text(item.id) or not _is_text(item.name):
            raise BackendError(f"expected {expected.__name__} with id and name, got {item!r}")
        if item.id in seen:
            raise BackendError(f"the id {item.id} appears twice")
        seen.add(item.id)
    return items


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


@contextlib.contextmanager
def _as_backend_error(where: str, project: base.ProjectInfo | None = None) -> Iterator[None]:
    """An error about a `project` reads the same for all projects, so that a list of errors can count them."""
    try:
        yield
    except Unavailable:  # we did not ask
        raise
    except (BackendError, ClientException, requests.RequestException) as error:
        text = _one_line(error)
        if project is not None:
            text = without_project(text, project.id)
        kind = type(error) if isinstance(error, BackendError) else BackendError
        is_placed = kind is type(error) and text.startswith(where)
        explained = kind(text if is_placed else f"{where}: {text}")
        explained.observed = _observed(error)
        raise explained from error
    except Exception as error:
        log.exception("%s: the plugin failed in a way that its contract does not allow", where)
        reason = f"internal error of the plugin ({type(error).__name__})"
        explained = BackendError(f"{where}: {reason}")
        explained.observed = reason
        raise explained from error


def _observed(error: Exception) -> str:
    """Returns the error's own text, without characters that no database and no terminal should get."""
    text = _without_urllib(str(error)).strip() or type(error).__name__
    return _printable(text, _LONGEST_OBSERVED, "\n\t")


def _one_line(error: Exception) -> str:
    """Returns the error's text, safe to store and to show: a backend may have put anything into it."""
    return _printable(_without_urllib(" ".join(str(error).split()) or type(error).__name__), _LONGEST)


def _printable(text: str, longest: int, besides: str = "") -> str:
    text = "".join(char if char.isprintable() or char in besides else ascii(char)[1:-1] for char in text[:longest])
    return text if len(text) < longest else text[: longest - 3] + "..."


def _without_urllib(text: str) -> str:
    """Returns the text without urllib3's repetition of it, which has addresses of objects in memory, and without
    secrets. Secrets go first: once the text is cut they may not be recognised any more."""
    return re.split(r": HTTPS?ConnectionPool\(", redact(text))[0]


def find_problem(
    service_type: str, scraped_at: float | None, failing_since: float | None, *, is_stale: bool
) -> tuple[float, str] | None:
    """Returns since when (seconds since the epoch) something is wrong with the figures of one service of one project,
    and what; None where all is well. `is_stale` tells whether the figures are older than they should be."""
    if failing_since is not None:
        failing = _failing(service_type, failing_since)
        if scraped_at is not None:
            return failing_since, f"{failing}; these figures are from {render_time(scraped_at)}"
        return failing_since, f"{failing}; there are no figures, and no quota can be set, until a scrape succeeds"
    if scraped_at is not None and is_stale:
        return scraped_at, f"service {service_type} was last scraped at {render_time(scraped_at)}: Limes is late"
    return None


def no_report(ref: Ref, scraped_at: float | None, failing_since: float | None) -> str:
    """Returns why a project has no figures for a resource, and when to try again (in the original's words, where they
    fit)."""
    head = f"no project report for resource {ref[0]}/{ref[1]}"
    if failing_since is not None:
        return f"{head}: {_failing(ref[0], failing_since)} (please retry after a scrape has succeeded)"
    if scraped_at is not None:
        return f"{head} (please retry after the next scrape of service {ref[0]})"
    return f"{head} (please retry in a few seconds after initial scraping is done)"


def _failing(service_type: str, since: float) -> str:
    return f"the backend of service {service_type} has been failing since {render_time(since)}"


PROJECT_PLACEHOLDER = "{project_id}"


def without_project(text: str, project_id: str) -> str:
    """Returns the text with a placeholder for this project's id, so that the same error has the same text in all
    projects."""
    return re.sub(rf"(?<![0-9A-Za-z-]){re.escape(project_id)}(?![\w-])", PROJECT_PLACEHOLDER, text)
