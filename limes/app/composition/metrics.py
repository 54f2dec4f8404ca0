"""What `limes metrics` works with, and the gauges that it shares with collectors."""

from prometheus_client.registry import Collector as MetricSource

from limes.app.composition.cluster import build_cluster
from limes.app.composition.common import open_checked_engine
from limes.app.context import Limes, open_limes
from limes.app.features import entries
from limes.app.settings import Settings
from limes.collector.http import MetricsProcess
from limes.reports.data_metrics import DataMetrics
from limes.reports.shared_figures import SharedFigures


def open_metrics(settings: Settings) -> MetricsProcess:
    """Opens everything. Raises `ConfigError`, `StartupError` and `Unavailable`."""
    engine = open_checked_engine(settings, "limes-metrics")
    limes = open_limes(build_cluster(settings), engine, settings)
    section = settings.metrics
    return MetricsProcess(engine, gauges_of_cloud(limes), figures_of_cloud(limes, section.skip_zero), section.listen)


def figures_of_cloud(limes: Limes, skip_zero: bool) -> SharedFigures:
    plugins = {service.service_type: service.type for service in limes.settings.services}
    section = limes.settings.metrics
    data = DataMetrics(limes.engine, limes.catalog, skip_zero, limes.overrides, plugins, of_projects=section.projects)
    return SharedFigures(data.write, section.max_age)


def gauges_of_cloud(limes: Limes) -> list[MetricSource]:
    """Returns those that say the same in each process: how scrapes and deliveries stand, and what needs attention."""
    return [gauge(limes) for gauge in entries("metrics", "GAUGES")]
