"""Each backend is asked as the collector would ask it, about one project; nothing is stored."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from keystoneauth1 import exceptions as ksa_errors

from limes import backends
from limes.app.composition.cluster import build_cluster, open_cloud
from limes.app.context import Cluster
from limes.app.doctor.context import Context
from limes.auth.session import CloudSession
from limes.backends import calls
from limes.kernel.errors import BackendError, LimesError
from limes.kernel.findings import Finding, ok, problem, skipped, warning

_AT_ONCE = 4


def check(context: Context) -> Iterator[Finding]:
    """Discovery, each service, and each capacitor."""
    if context.settings.for_placement_alone:
        yield skipped("backends", "there are none: the file is for `limes placement` alone")
        return
    try:
        cloud = open_cloud(context.settings)
        cluster = build_cluster(context.settings, cloud, time_limit=context.timeout)
    except LimesError:
        yield skipped("backends", "the configuration has to be corrected first")
        return
    project, name = None, "backends.discovery"
    try:
        project = _find_project(context, cluster.backends.discovery)
    except BackendError as error:
        yield problem(name, str(error), _mend(error, cloud))
    else:
        if project is not None:
            yield ok(name, f"discovery finds projects, such as {project.domain.name}/{project.name}")
        elif context.project is not None:
            yield problem(name, f"discovery finds no project {context.project}", "give another --project, or none")
        else:
            mend = "look at discovery.except_domains and only_domains, and at the roles of our user in Keystone"
            yield warning(name, "discovery finds no project", mend)
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="doctor") as pool:
        yield from pool.map(partial(_about_service, cluster, cloud, project), cluster.backends.quota)
        yield from pool.map(partial(_about_capacitor, cluster, cloud), cluster.backends.capacity)


def _find_project(context: Context, backend: backends.DiscoveryBackend) -> backends.ProjectInfo | None:
    """Returns the project that was asked for, or the first one. Raises `BackendError`."""
    discovery = context.settings.discovery
    for domain in calls.list_domains(backend, discovery.except_domains, discovery.only_domains):
        for project in calls.list_projects(backend, domain):
            if context.project in (None, project.id):
                return project
    return None


def _about_service(
    cluster: Cluster, cloud: CloudSession, project: backends.ProjectInfo | None, service_type: str
) -> Finding:
    name, service = f"backends.service.{service_type}", cluster.catalog.services[service_type]
    if project is None:
        return skipped(name, "there is no project to ask about")
    try:
        report = calls.report_usage(cluster.backends.quota[service_type], service, project, cluster.catalog)
    except BackendError as error:
        return problem(name, str(error), _mend(error, cloud))
    where = f"{project.domain.name}/{project.name}"
    return ok(name, f"service {service_type} reports {len(report.resources)} resources of {where}")


def _about_capacitor(cluster: Cluster, cloud: CloudSession, capacitor: str) -> Finding:
    name = f"backends.capacitor.{capacitor}"
    try:
        report = calls.report_capacity(cluster.backends.capacity[capacitor], capacitor, cluster.catalog)
    except BackendError as error:
        return problem(name, str(error), _mend(error, cloud))
    count = sum(map(len, report.services.values()))
    if not count:
        text = f"capacitor {capacitor} reports capacity of no configured resource"
        mend = f"compare its services and resources with those under services: limes plugin scan-capacity {capacitor}"
        return warning(name, text, mend)
    return ok(name, f"capacitor {capacitor} reports capacity of {count} resources")


def _mend(error: BackendError, cloud: CloudSession) -> str:
    """Returns what to do, by the kind of the error, or of what was behind it."""
    causes: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in causes:
        causes.append(following)
        following = following.__cause__
    if cloud.auth_url is not None and cloud.auth_url in str(error):
        return "Keystone has to let us in first: see keystone.connection and keystone.login"
    if cloud.auth_url is None and any(isinstance(cause, ksa_errors.AuthorizationFailure) for cause in causes):
        return "name a token for Limes's own requests in identity.sample.own_token"

    def caused_by(*kinds: type[Exception]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    if caused_by(backends.BackendMissing, ksa_errors.CatalogException):
        return (
            "openstack endpoint create SERVICE INTERFACE URL; or correct interface and region_name;"
            " or give its address in identity.endpoints or in params.endpoint"
        )
    if caused_by(ksa_errors.Unauthorized, ksa_errors.MissingAuthPlugin):
        return "our user cannot sign in at Keystone: see keystone.login"
    if caused_by(backends.BackendRefusal, ksa_errors.Forbidden):
        return "give our user the roles that the backend's policy asks for (admin as a rule)"
    if caused_by(backends.BackendOutdated):
        return "upgrade the backend, or ask for less in params (docs/plugins.md)"
    if caused_by(backends.BackendOutage, ksa_errors.ConnectionError):
        return "start the backend, or correct its endpoint in the catalog; look at DNS and at firewalls between"
    return "see the message; `limes plugin test` and `limes plugin scan-capacity` ask again"
