"""The collaborators of the Limes API, and of the dashboard within it."""

from dataclasses import replace

from limes.actions.change_log import ChangeLog
from limes.actions.commitments.use_cases import CommitmentUseCases
from limes.actions.explain_quota import ExplainQuota
from limes.actions.mails.subscriptions import Subscriptions
from limes.actions.push_quota import PushQuota
from limes.actions.quota_changes import TellBackends
from limes.actions.quota_history import ShowHistory
from limes.actions.quota_requests.use_cases import QuotaRequestUseCases
from limes.actions.set_autogrow_bounds import SetAutogrowBounds
from limes.actions.set_bursting import SetBursting
from limes.actions.set_domain_quota import SetDomainQuota
from limes.actions.set_project_quota import SetProjectQuota
from limes.actions.sync_catalog import SyncCatalog
from limes.api.collaborators import ApiCollaborators
from limes.auth.context import Authenticator
from limes.auth.revoked import RevokedTokens
from limes.auth.session import CloudSession
from limes.composition.cluster import Cluster, build_cluster
from limes.composition.common import open_checked_engine
from limes.composition.identity import (
    client_address,
    limes_policy,
    open_authenticator,
    open_cloud,
    open_revoked,
    refuse_exposure,
    shared_folder,
)
from limes.composition.mails import open_mail_settings, unsubscribe_links
from limes.composition.notifications import announcements
from limes.composition.replicas import with_standbys
from limes.composition.use_cases import (
    build_discovery,
    build_distribution,
    build_growth_report,
    build_quota_push,
    build_usage_report,
    open_change_log,
)
from limes.db.engine import Engine
from limes.settings import Settings
from limes.system import Clock, SystemClock, SystemIds
from limes.ui.keystone_sign_in import KeystoneSignInMethod
from limes.ui.known_browser import KnownBrowsers, shared_key
from limes.ui.pages import dashboard
from limes.ui.session import ScopesEndpoint, SessionEndpoint
from limes.ui.sign_in import SampleSignInMethod, SignInMethod
from limes.ui.throttle import Throttle
from limes.web.mount import Mount


def build_api(settings: Settings) -> ApiCollaborators:
    """Opens everything that the API works with, and makes the rows that mirror the configuration."""
    refuse_exposure(settings, "api")
    engine = with_standbys(settings, open_checked_engine(settings, "limes-api"), "limes-api", "limes")
    cloud = open_cloud(settings, settings.api.threads)
    cluster, clock = _build_cluster(settings, cloud), SystemClock()
    SyncCatalog(engine, cluster.catalog, list(cluster.backends.capacity), clock).run()
    push = _quota_push(settings, engine, cluster).push_project
    change_log = open_change_log(settings, engine, cluster, clock)
    discovery = build_discovery(settings, engine, cluster, change_log)
    ids, revoked = SystemIds(), open_revoked(settings)
    authenticator = open_authenticator(settings, cloud, revoked=revoked)
    setters = _quota_setters(engine, cluster, clock, push, change_log)
    set_project_quota, set_domain_quota, set_autogrow_bounds = setters
    distribution = build_distribution(settings, engine, cluster, clock, change_log)
    return ApiCollaborators(
        client_address=client_address(settings),
        engine=engine,
        catalog=cluster.catalog,
        clock=clock,
        ids=ids,
        authenticator=authenticator,
        policy=limes_policy(settings),
        set_domain_quota=set_domain_quota,
        set_project_quota=set_project_quota,
        set_bursting=SetBursting(engine, cluster.catalog, push, change_log),
        set_autogrow_bounds=set_autogrow_bounds,
        commitments=CommitmentUseCases.build(engine, cluster.catalog, clock, ids, cluster.commitment_rules, change_log),
        quota_requests=_quota_requests(settings, engine, cluster, setters),
        usage=build_usage_report(settings, engine, clock),
        growth=build_growth_report(settings, engine, cluster, clock),
        history=ShowHistory(engine),
        explain=ExplainQuota(cluster.catalog, set_project_quota, set_domain_quota, distribution),
        discover_domains=lambda initiator: discovery.by(initiator).discover_domains(),
        discover_projects=lambda domain, initiator: discovery.by(initiator).discover_projects(domain),
        request_sync=lambda domain, project, initiator: discovery.by(initiator).request_sync(domain, project),
        catalog_url=settings.catalog_url,
        allowed_origins=settings.api.cors.allowed_origins,
        max_body_size=settings.api.max_body_size,
        stale_after=settings.collector.stale_after,
        lifetime_retention=settings.subresource_lifetimes.retention,
        quota_sets=cluster.quota_sets,
        alerts=settings.alerts,
        outage_failures=settings.circuit_breaker.failures,
        subscriptions=Subscriptions(engine, clock, unsubscribe_links(settings.notifications.mail)),
        mail_settings=open_mail_settings(settings, engine, cloud, clock),
        mounts=dashboard_mounts(settings, cloud, authenticator, revoked, clock),
        compression=settings.api.clients.compression,
    )


def _build_cluster(settings: Settings, cloud: CloudSession) -> Cluster:
    at_once = max(1, settings.api.threads // 2)
    return build_cluster(settings, cloud, time_limit=settings.api.backend_timeout, at_once=at_once)


def _quota_push(settings: Settings, engine: Engine, cluster: Cluster) -> PushQuota:
    # a backend has no longer than that, so a process that takes over from a killed worker need not wait longer either
    lease = min(settings.collector.lease, 2 * settings.api.backend_timeout + 10)
    return replace(build_quota_push(settings, engine, cluster), lease=lease)


def _quota_requests(
    settings: Settings,
    engine: Engine,
    cluster: Cluster,
    setters: tuple[SetProjectQuota, SetDomainQuota, SetAutogrowBounds],
) -> QuotaRequestUseCases:
    section, announce = settings.quota_requests, announcements(settings, engine, cluster)
    return QuotaRequestUseCases.build(
        *setters, cluster.auto_approval, announce, section.at_most_per_day, section.at_most_per_day_in_domain
    )


def _quota_setters(
    engine: Engine, cluster: Cluster, clock: Clock, push: TellBackends, change_log: ChangeLog
) -> tuple[SetProjectQuota, SetDomainQuota, SetAutogrowBounds]:
    rules = (engine, cluster.catalog, cluster.constraints, cluster.lowpriv)
    growth = SetAutogrowBounds(
        engine, cluster.catalog, clock, change_log, cluster.overrides.current, cluster.constraints
    )
    return SetProjectQuota(*rules, clock, push, change_log), SetDomainQuota(*rules, change_log), growth


def dashboard_mounts(
    settings: Settings, cloud: CloudSession, authenticator: Authenticator, revoked: RevokedTokens, clock: Clock
) -> tuple[Mount, ...]:
    """Returns the mount of the dashboard, or none. Raises `StartupError` if it is not built."""
    if not settings.ui.enabled:
        return ()
    method: SignInMethod
    if settings.identity.method == "sample":
        method = SampleSignInMethod(settings.identity.sample)
    else:
        method = KeystoneSignInMethod(cloud, settings.ui.user_domain, revoked)
    throttle = Throttle(clock)
    browsers = KnownBrowsers(shared_key(shared_folder(settings)))
    session = SessionEndpoint(method, authenticator, throttle, browsers, title=settings.ui.title)
    return (dashboard(session, ScopesEndpoint(method, throttle)),)
