"""The use cases that both the API and the collector need."""

from limes.actions.commitments.ledger import Ledger
from limes.actions.commitments.settle import SettleCommitments
from limes.actions.commitments.utilisation import MeasureUtilisation
from limes.actions.discover import Discover
from limes.actions.push_quota import PushQuota
from limes.actions.trail import Trail
from limes.composition.cluster import Cluster
from limes.db.engine import Engine
from limes.settings import Settings
from limes.system import Clock, RandomJitter, SystemClock, SystemIds


def open_trail(settings: Settings, engine: Engine, clock: Clock) -> Trail:
    """What writes down each change."""
    ids = SystemIds()
    return Trail(engine, clock, ids, sinks=settings.audit.sinks, observer=ids.uuid())


def discover(settings: Settings, engine: Engine, cluster: Cluster, trail: Trail) -> Discover:
    """The use case that follows Keystone."""
    return Discover(
        engine=engine,
        backend=cluster.backends.discovery,
        catalog=cluster.catalog,
        constraints=cluster.constraints,
        clock=SystemClock(),
        commitments=settle_commitments(engine, cluster, SystemClock(), trail),
        trail=trail,
        except_domains=settings.discovery.except_domains,
        only_domains=settings.discovery.only_domains,
    )


def push_quota(settings: Settings, engine: Engine, cluster: Cluster) -> PushQuota:
    """The use case that writes quota into backends."""
    return PushQuota(
        engine=engine,
        catalog=cluster.catalog,
        backends=cluster.backends.quota,
        clock=SystemClock(),
        jitter=RandomJitter(),
        lease=settings.collector.lease,
        retry=settings.collector.push_retry,
        retry_max=settings.collector.push_retry_max,
        patience=settings.api.backend_timeout,
    )


def settle_commitments(engine: Engine, cluster: Cluster, clock: Clock, trail: Trail) -> SettleCommitments:
    """The use case that expires, confirms and forgets commitments."""
    return SettleCommitments(_ledger(engine, cluster, clock, trail), cluster.commitment_rules.retention)


def measure_utilisation(engine: Engine, cluster: Cluster, clock: Clock, trail: Trail) -> MeasureUtilisation:
    """The use case that looks at how much of their commitments projects use."""
    return MeasureUtilisation(_ledger(engine, cluster, clock, trail), cluster.commitment_rules.use_days)


def _ledger(engine: Engine, cluster: Cluster, clock: Clock, trail: Trail) -> Ledger:
    return Ledger(engine, cluster.catalog, clock, SystemIds(), trail)
