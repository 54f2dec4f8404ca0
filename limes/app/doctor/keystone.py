"""Keystone: reachable, on time, lets us in, and knows our roles and the services that we need."""

from collections.abc import Iterator
from email.utils import parsedate_to_datetime

import requests
from keystoneauth1 import exceptions as ksa_errors
from keystoneauth1.access import AccessInfo
from keystoneauth1.identity import BaseIdentityPlugin

from limes.app.composition.cluster import open_cloud
from limes.app.doctor.context import Context, compare_clocks
from limes.auth.session import CloudSession, advise, describe, reason_of
from limes.kernel.errors import BackendError, StartupError
from limes.kernel.findings import Finding, ok, problem, skipped, warning

_GRANT = "openstack role add --user USER --project PROJECT {}"
_OURS = {
    "resources": ("limes", "clients do not find the Limes API"),
    "placement": ("placement", "Nova does not find Placement"),
}
"""Services of ours that clients look for in the catalog: name, and what follows where it is missing."""


def check(context: Context) -> Iterator[Finding]:
    method = context.settings.identity.method
    if method != "keystone":
        yield skipped("keystone", f"identity.method is {method}, so there is no Keystone")
        return
    try:
        cloud = open_cloud(context.settings)
    except StartupError as error:
        mend = "give auth_url, username, password and project_name in identity.keystone, or a cloud, or OS_* variables"
        yield problem("keystone.login", str(error), mend)
        return
    cloud.session.timeout = min(context.timeout, context.settings.identity.keystone.timeout)
    reached = list(_reach(context, cloud))
    yield from reached
    if not any(finding.mend for finding in reached if finding.check == "keystone.connection"):
        yield from _login(cloud)


def _reach(context: Context, cloud: CloudSession) -> Iterator[Finding]:
    name, url = "keystone.connection", str(cloud.auth_url)
    before = context.now()
    try:
        answer = cloud.session.get(url, authenticated=False, raise_exc=False, log=False)
    except (ksa_errors.ClientException, requests.RequestException, BackendError) as error:
        yield problem(name, f"Keystone at {url} does not answer: {reason_of(error)}", advise(error))
        return
    try:
        document = answer.json()
    except ValueError:
        document = None
    if not isinstance(document, dict) or not document.keys() & {"version", "versions"}:
        mend = "correct identity.keystone.auth_url: it ends in /v3 as a rule, and often has /identity before that"
        yield problem(name, f"what answers at {url} (HTTP {answer.status_code}) is not Keystone", mend)
        return
    yield ok(name, f"Keystone at {url} answers")
    try:
        server_time = parsedate_to_datetime(answer.headers["Date"]).timestamp()
    except (KeyError, ValueError):
        yield skipped("keystone.clock", "Keystone's answer has no date")
        return
    # the header is cut to whole seconds, and may have been written at any time of the request
    ahead = max(before - server_time - 1, min(0.0, context.now() - server_time))
    yield compare_clocks("keystone.clock", ahead, "Keystone's", context.settings.collector.max_clock_skew)


def _login(cloud: CloudSession) -> Iterator[Finding]:
    auth = cloud.session.auth
    assert isinstance(auth, BaseIdentityPlugin), "Keystone's logins are of this kind"
    try:
        access = auth.get_access(cloud.session)
    except ksa_errors.Unauthorized as error:
        mend = "correct user, password (LIMES_IDENTITY_PASSWORD), domains and project in identity.keystone"
        yield problem("keystone.login", f"Keystone does not let us in: {describe(error)}", mend)
        return
    except (ksa_errors.ClientException, requests.RequestException, BackendError) as error:
        mend = "look at Keystone's own log"
        yield problem("keystone.login", f"Keystone cannot be asked for a token: {describe(error)}", mend)
        return
    yield ok("keystone.login", f"our user {access.username or access.user_id} can sign in")
    yield _roles(access)
    yield from _catalog(cloud, access)


def _roles(access: AccessInfo) -> Finding:
    name, roles = "keystone.roles", set(access.role_names or ())
    where = f"the project {access.project_name}" if access.project_name else "the scope of identity.keystone"
    has = f"our user's roles on {where} are: {', '.join(sorted(roles)) or 'none'}"
    if not roles & {"admin", "service"}:
        return problem(name, f"{has}; Keystone lets nobody else validate tokens", _GRANT.format("service"))
    if "admin" not in roles:
        return warning(name, f"{has}; backends want admin from those who set quota", _GRANT.format("admin"))
    if "service" not in roles:
        text = f"{has}; Placement's reshaper and newer policies want service"
        return warning(name, text, _GRANT.format("service"))
    return ok(name, has)


def _catalog(cloud: CloudSession, access: AccessInfo) -> Iterator[Finding]:
    """The services of ours. Those of backends are found, or not, when backends are asked."""
    name, region, interface = "keystone.catalog", cloud.region_name, cloud.interface
    endpoints = [
        (service.get("type", ""), endpoint)
        for service in access.service_catalog.catalog
        for endpoint in service.get("endpoints", ())
    ]
    regions = {endpoint.get("region_id") for _, endpoint in endpoints}
    if region is not None and region not in regions:
        text = f"there is no region {region!r} in the catalog; there are: {', '.join(sorted(map(str, regions)))}"
        yield problem(name, text, "correct identity.keystone.region_name")
        return
    where = f"interface {interface}" + (f" in region {region}" if region else "")
    urls = {
        service_type: endpoint.get("url")
        for service_type, endpoint in endpoints
        if endpoint.get("interface") == interface and region in (None, endpoint.get("region_id"))
    }
    for service_type, (service_name, consequence) in _OURS.items():
        if url := urls.get(service_type):
            yield ok(name, f"the catalog has {service_type}: {url}")
            continue
        mend = (
            f"openstack service create --name {service_name} {service_type};"
            f" openstack endpoint create {service_type} {interface} URL" + (f" --region {region}" if region else "")
        )
        yield warning(name, f"the catalog has no {service_type} for {where}: {consequence}", mend)
