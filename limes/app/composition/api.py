"""The collaborators of the Limes API, and of the dashboard within it."""

from limes.api.call import ApiCollaborators
from limes.app import context, databases, routes
from limes.app.composition import common, identity, mails, sign_ins
from limes.app.composition.cluster import build_cluster, open_cloud
from limes.app.settings import Settings
from limes.auth.policy import Policy
from limes.collector.sync_catalog import sync_catalog
from limes.notifications.recipients import MailPreferences, Subscriptions
from limes.quota.push_quota import push_quota
from limes.requests.deciders import Directory
from limes.ui import browser, pages, sign_in
from limes.ui.session import ScopesEndpoint, SessionEndpoint
from limes.ui.throttle import Throttle
from limes.web.operational import Mount


def build_api(settings: Settings) -> ApiCollaborators:
    """Opens everything that the API works with, and makes the rows that mirror the configuration. Raises
    `StartupError` if the dashboard is not built."""
    identity.refuse_exposure(settings, "api")
    engine = databases.with_standbys(settings, common.open_checked_engine(settings, "limes-api"), "limes-api", "limes")
    cloud = open_cloud(settings, settings.api.threads)
    at_once = max(1, settings.api.threads // 2)
    cluster = build_cluster(settings, cloud, time_limit=settings.api.backend_timeout, at_once=at_once)
    # a backend has no longer than that, so a process that takes over from a killed worker need not wait longer either
    lease = min(settings.collector.lease, 2 * settings.api.backend_timeout + 10)
    limes = context.open_limes(cluster, engine, settings, lease=lease, push_quota=push_quota)
    sync_catalog(limes)
    revoked = identity.open_revoked(settings)
    authenticator = identity.open_authenticator(settings, cloud, revoked=revoked)
    mounts: tuple[Mount, ...] = ()
    if settings.ui.enabled:
        method: sign_in.SignInMethod
        if settings.identity.method == "sample":
            method = sign_in.SampleSignInMethod(settings.identity.sample)
        else:
            method = sign_ins.at_keystone(settings, cloud, revoked)
        throttle = Throttle(limes.clock)
        browsers = browser.KnownBrowsers(browser.shared_key(identity.shared_folder(settings)))
        providers = sign_ins.single_sign_on(settings, method, cloud, limes.clock)
        session = SessionEndpoint(method, authenticator, throttle, browsers, providers, title=settings.ui.title)
        mounts = (pages.dashboard(session, ScopesEndpoint(method, throttle)),)
    return ApiCollaborators(
        client_address=identity.client_address(settings),
        limes=limes,
        authenticator=authenticator,
        policy=Policy(routes.RULES, settings.api.policy_file),
        mounts=mounts,
        parts={
            Subscriptions: Subscriptions(engine, limes.clock, mails.unsubscribe_links(settings.notifications.mail)),
            Directory: Directory(mails.open_people(settings, cloud, limes.clock)),
            MailPreferences: mails.open_mail_settings(settings, engine, cloud, limes.clock),
        },
    )
