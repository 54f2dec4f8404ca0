"""The use cases that both the API and the collector need."""

from limes.actions.announce_ends import AnnounceEnds
from limes.actions.change_log import ChangeLog
from limes.actions.commitments.auto_renew import RenewAutomatically
from limes.actions.commitments.ledger import Ledger
from limes.actions.commitments.settle import SettleCommitments
from limes.actions.commitments.utilisation import MeasureUtilisation
from limes.actions.discover import Discover
from limes.actions.distribute_quota import DistributeQuota
from limes.actions.growth.history import ReportGrowth
from limes.actions.growth.sample import SampleGrowth
from limes.actions.metering.close import CloseAccounts, Retention
from limes.actions.metering.report import ReportUsage
from limes.actions.push_quota import PushQuota
from limes.actions.quota_requests.announce import Announce
from limes.actions.quota_requests.desk import Desk
from limes.actions.quota_requests.expire import ExpireRequests
from limes.actions.set_autogrow_bounds import SetAutogrowBounds
from limes.actions.set_domain_quota import SetDomainQuota
from limes.actions.set_project_quota import SetProjectQuota
from limes.actions.settle_temporary_quotas import SettleTemporaryQuotas
from limes.audit.initiator import of_job
from limes.composition.cluster import Cluster
from limes.db.engine import Engine
from limes.settings import Settings
from limes.system import Clock, RandomJitter, SystemClock, SystemIds


def open_change_log(settings: Settings, engine: Engine, cluster: Cluster, clock: Clock) -> ChangeLog:
    """Returns the log that records each change."""
    ids = SystemIds()
    return ChangeLog(engine, cluster.catalog, clock, ids, sinks=settings.audit.sinks, observer=ids.uuid())


def build_discovery(settings: Settings, engine: Engine, cluster: Cluster, change_log: ChangeLog) -> Discover:
    """Returns the use case that follows Keystone."""
    return Discover(
        engine=engine,
        backend=cluster.backends.discovery,
        catalog=cluster.catalog,
        constraints=cluster.constraints,
        clock=SystemClock(),
        commitments=build_settlement(engine, cluster, SystemClock(), change_log),
        change_log=change_log,
        except_domains=settings.discovery.except_domains,
        only_domains=settings.discovery.only_domains,
        usage_valid_for=settings.usage_valid_for,
    )


def build_quota_push(settings: Settings, engine: Engine, cluster: Cluster) -> PushQuota:
    """Returns the use case that writes quota into backends."""
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


def build_settlement(engine: Engine, cluster: Cluster, clock: Clock, change_log: ChangeLog) -> SettleCommitments:
    """Returns the use case that expires, confirms and forgets commitments."""
    return SettleCommitments(_ledger(engine, cluster, clock, change_log), cluster.commitment_rules.retention)


def build_auto_renewal(engine: Engine, cluster: Cluster, clock: Clock, change_log: ChangeLog) -> RenewAutomatically:
    """Returns the use case that renews commitments by itself."""
    return RenewAutomatically(_ledger(engine, cluster, clock, change_log), cluster.commitment_rules)


def build_utilisation(engine: Engine, cluster: Cluster, clock: Clock, change_log: ChangeLog) -> MeasureUtilisation:
    """Returns the use case that looks at how much of their commitments projects use."""
    return MeasureUtilisation(_ledger(engine, cluster, clock, change_log), cluster.commitment_rules.use_days)


def build_temporary_quotas(
    settings: Settings,
    engine: Engine,
    cluster: Cluster,
    clock: Clock,
    change_log: ChangeLog,
    announce: AnnounceEnds | None = None,
) -> SettleTemporaryQuotas:
    """Returns the use case that begins and ends temporary quotas. Without `announce`, it tells nobody."""
    rules = (engine, cluster.catalog, cluster.constraints, cluster.lowpriv)
    change_log = change_log.by(of_job("temporary-quotas"))
    return SettleTemporaryQuotas(
        engine,
        clock,
        SetProjectQuota(*rules, clock, lambda project_id, services: (), change_log),
        SetDomainQuota(*rules, change_log),
        change_log,
        settings.collector.temporary_quota_retry,
        announce,
    )


def build_request_expiry(
    settings: Settings, engine: Engine, cluster: Cluster, clock: Clock, change_log: ChangeLog, announce: Announce
) -> ExpireRequests:
    """Returns the use case that closes requests for quota that have expired."""
    quotas = build_temporary_quotas(settings, engine, cluster, clock, change_log)
    growth = SetAutogrowBounds(
        engine, cluster.catalog, clock, change_log, cluster.overrides.current, cluster.constraints
    )
    setters = (quotas.project, quotas.domain, growth)
    desk = Desk(engine, cluster.catalog, clock, change_log, *setters, announce=announce)
    return ExpireRequests(desk, settings.quota_requests.expire_after)


def build_distribution(
    settings: Settings, engine: Engine, cluster: Cluster, clock: Clock, change_log: ChangeLog
) -> DistributeQuota:
    """Returns the use case that computes quota that follows usage, and explains it."""
    collector = settings.collector
    return DistributeQuota(
        engine=engine,
        catalog=cluster.catalog,
        constraints=cluster.constraints,
        overrides=cluster.overrides.current,
        clock=clock,
        jitter=RandomJitter(),
        change_log=change_log,
        interval=collector.capacity_interval,
        retry=collector.capacity_retry,
        lease=collector.lease,
    )


def _ledger(engine: Engine, cluster: Cluster, clock: Clock, change_log: ChangeLog) -> Ledger:
    return Ledger(engine, cluster.catalog, clock, SystemIds(), change_log)


def build_closing(settings: Settings, engine: Engine, cluster: Cluster, clock: Clock) -> CloseAccounts:
    """Returns the use case that keeps the account of usage and commitments."""
    resources = {ref: cluster.catalog.find(ref) for ref in cluster.catalog.refs()}
    return CloseAccounts(
        engine,
        clock,
        settings.usage_valid_for,
        settings.metering.closes_after,
        retention_of_accounts(settings),
        {ref: resource.unit.value for ref, resource in resources.items() if resource is not None},
    )


def build_usage_report(settings: Settings, engine: Engine, clock: Clock) -> ReportUsage:
    """Returns the use case that tells what was used and committed."""
    return ReportUsage(engine, clock, settings.usage_valid_for, retention_of_accounts(settings))


def retention_of_accounts(settings: Settings) -> Retention:
    """Returns for how long hours, days and months can be told."""
    metering = settings.metering
    return Retention(metering.keep_hours, metering.keep_days, metering.keep_months)


def build_growth_report(settings: Settings, engine: Engine, cluster: Cluster, clock: Clock) -> ReportGrowth:
    """Returns the use case that tells how usage has grown."""
    retention = retention_of_accounts(settings)
    return ReportGrowth(engine, cluster.catalog, clock, settings.usage_valid_for, retention)


def build_growth(settings: Settings, engine: Engine, cluster: Cluster, clock: Clock) -> SampleGrowth:
    """Returns the use case that takes samples."""
    return SampleGrowth(engine, cluster.catalog, clock, retention_of_accounts(settings))
