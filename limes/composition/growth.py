"""How usage grows: the job that samples it, and the report."""

from limes.actions.growth.history import ReportGrowth
from limes.actions.growth.sample import SampleGrowth
from limes.actions.growth.trends import ComputeTrends
from limes.composition.cluster import Cluster
from limes.composition.use_cases import retention_of_accounts
from limes.db.engine import Engine
from limes.settings import Settings
from limes.system import Clock

GROWTH_INTERVAL = 1800.0
"""So that each hour has a sample, even if one is late."""


def build_growth_report(settings: Settings, engine: Engine, cluster: Cluster, clock: Clock) -> ReportGrowth:
    """Returns the use case that tells how usage has grown."""
    retention = retention_of_accounts(settings)
    return ReportGrowth(engine, cluster.catalog, clock, settings.usage_valid_for, retention)


def build_growth(settings: Settings, engine: Engine, cluster: Cluster, clock: Clock) -> SampleGrowth:
    """Returns the use case that takes samples."""
    return SampleGrowth(engine, cluster.catalog, clock, ComputeTrends(engine), retention_of_accounts(settings))
