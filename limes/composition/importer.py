"""Both ends of an import from the Go Limes."""

from limes.actions.sync_catalog import SyncCatalog
from limes.composition.cluster import build_cluster
from limes.composition.common import load_settings, open_checked_engine
from limes.composition.identity import open_cloud
from limes.importer.run import Import, Progress
from limes.importer.source import open_source
from limes.system import SystemClock, SystemIds


def open_import(url: str, progress: Progress) -> Import:
    """Opens the source at a URL, and our database as configured, without limits of time.

    Raises `ConfigError` and `StartupError`.
    """
    settings = load_settings()
    unlimited = settings.database.model_copy(update={"statement_timeout": 0.0, "lock_timeout": 0.0})
    target = open_checked_engine(settings.model_copy(update={"database": unlimited}), "limes-import")
    cluster = build_cluster(settings, open_cloud(settings))
    sync_catalog = SyncCatalog(target, cluster.catalog, list(cluster.backends.capacity), SystemClock())
    return Import(open_source(url), target, cluster.catalog, sync_catalog, SystemIds(), progress)
