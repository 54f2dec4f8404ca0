"""What `limes metrics` works with, and the gauges that it shares with collectors."""

from prometheus_client.registry import Collector as MetricSource

from limes.app import context, features
from limes.app.composition import cluster, common
from limes.app.settings import Settings
from limes.collector.http import MetricsProcess
from limes.reports import data_metrics, project_figures, shared_figures


def open_metrics(settings: Settings) -> MetricsProcess:
    """Opens everything. Raises `ConfigError`, `StartupError` and `Unavailable`."""
    engine = common.open_checked_engine(settings, "limes-metrics")
    limes = context.open_limes(cluster.build_cluster(settings), engine, settings)
    section = settings.metrics
    return MetricsProcess(engine, gauges_of_cloud(limes), figures_of_cloud(limes, section.skip_zero), section.listen)


def figures_of_cloud(limes: context.Limes, skip_zero: bool) -> shared_figures.SharedFigures:
    plugins = {service.service_type: service.type for service in limes.settings.services}
    section = limes.settings.metrics
    projects = project_figures.ProjectFigures(skip_zero=skip_zero) if section.projects else None
    data = data_metrics.DataMetrics(limes.engine, limes.catalog, projects, limes.overrides, plugins)
    return shared_figures.SharedFigures(data.read, section.max_age)


def gauges_of_cloud(limes: context.Limes) -> list[MetricSource]:
    """Returns those that say the same in each process: how scrapes and deliveries stand, and what needs attention."""
    return [gauge(limes) for gauge in features.entries("metrics", "GAUGES")]
