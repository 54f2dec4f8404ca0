"""What the commands `status`, `config check` and `import-limes` work with."""

from collections.abc import Sequence
from dataclasses import dataclass

import requests
from prometheus_client.parser import text_string_to_metric_families

from limes.actions.compare_catalog import ChangedModel, Comparison, compare_catalog, compare_models
from limes.actions.context import open_limes
from limes.actions.reports.status import StatusReport, report_status
from limes.composition.approval_warnings import approval_warnings
from limes.composition.checks import CHECKS, load_checkable_settings, problems_of
from limes.composition.cluster import build_cluster
from limes.composition.common import load_settings, open_checked_engine
from limes.composition.identity import open_cloud
from limes.composition.notify_commands import template_problems
from limes.composition.references import reference_warnings
from limes.core.catalog import Ref
from limes.core.commitments.rules import refs_without_zones
from limes.errors import BackendError, ConfigError
from limes.importer import source as original
from limes.importer.run import Import, Progress
from limes.metrics.gauges import CIRCUIT_NAME, CIRCUIT_STATES
from limes.outgoing import GuardedSession
from limes.system import SystemClock
from limes.validation.sections import reachable

_PATIENCE = 3.0


@dataclass(frozen=True, slots=True)
class Checked:
    """What a valid configuration has."""

    services: int
    resources: int
    warnings: tuple[str, ...] = ()


def check_configuration() -> Checked:
    """Returns what `limes config check` says without asking anybody. Raises `ConfigError` with every problem."""
    settings = load_checkable_settings()
    problems = problems_of(settings, [check.name for check in CHECKS if not check.asks_others])
    if problems:
        raise ConfigError(problems)
    cluster = build_cluster(settings, open_cloud(settings))
    catalog = cluster.catalog
    warnings = (
        *reference_warnings(settings, catalog, cluster.backends, cluster.overrides(), cluster.constraints),
        *approval_warnings(cluster.auto_approval, catalog),
        *map(_without_zones, refs_without_zones(catalog)),
        *template_problems(settings.notifications.mail),
    )
    return Checked(len(catalog.services), len(catalog.refs()), warnings)


def _without_zones(ref: Ref) -> str:
    return (
        f"commitments to {'/'.join(ref)} are for one availability zone (commitment_is_az_aware), but its backend does"
        " not report usage by zone: commitments do not cover what is used, and as much of the capacity is never sold"
    )


def compare_with_database() -> tuple[Comparison, Sequence[ChangedModel]]:
    """Returns what the configuration drops from the database, and the distribution models that it changes.

    Raises `ConfigError`, `StartupError`, `Unavailable`.
    """
    settings = load_settings()
    cluster = build_cluster(settings, open_cloud(settings))
    engine = open_checked_engine(settings, "limes-config-check")
    try:
        limes = open_limes(cluster, engine, settings)
        return compare_catalog(limes), compare_models(limes)
    finally:
        engine.close()


@dataclass(frozen=True, slots=True)
class Circuit:
    """The circuit to a backend: `closed`, `half-open` or `open`."""

    backend: str
    state: str


@dataclass(frozen=True, slots=True)
class Status:
    """Everything. `circuits` is None if no collector answers."""

    report: StatusReport
    stale_after: float
    collector: str
    circuits: list[Circuit] | None


def read_status(collector: str | None = None) -> Status:
    """Reads the database, and asks the collector at `HOST:PORT` (by default `collector.listen`) for its circuits."""
    settings = load_settings()
    engine = open_checked_engine(settings, "limes-status")
    try:
        stale_after = settings.collector.stale_after
        report = report_status(engine, stale_after, SystemClock().now().timestamp())
    finally:
        engine.close()
    address = collector or reachable(settings.collector.listen)
    return Status(report, stale_after, address, _circuits(address))


def _circuits(collector: str) -> list[Circuit] | None:
    try:
        answer = GuardedSession().get(f"http://{collector}/metrics", timeout=_PATIENCE)
        answer.raise_for_status()
        families = list(text_string_to_metric_families(answer.text))
    except (requests.RequestException, BackendError, ValueError):
        return None
    names = {value: name for name, value in CIRCUIT_STATES.items()}
    return [
        Circuit(sample.labels["backend"], names[int(sample.value)])
        for family in families
        if family.name == CIRCUIT_NAME
        for sample in family.samples
    ]


def open_import(url: str, progress: Progress) -> Import:
    """Opens the source at a URL, and our database as configured, without limits of time.

    Raises `ConfigError` and `StartupError`.
    """
    settings = load_settings()
    unlimited = settings.database.model_copy(update={"statement_timeout": 0.0, "lock_timeout": 0.0})
    target = open_checked_engine(settings.model_copy(update={"database": unlimited}), "limes-import")
    cluster = build_cluster(settings, open_cloud(settings))
    source, limes = original.open_source(url), open_limes(cluster, target, settings)
    return Import(source, target, limes.catalog, limes, limes.ids, progress, limes.overrides())
