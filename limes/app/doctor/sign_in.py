"""Single sign-on: whether providers answer, what Keystone knows of them, and the addresses to be registered."""

from collections.abc import Iterator

import requests
from keystoneauth1 import exceptions as ksa_errors

from limes.app.composition import cluster, sign_ins
from limes.app.doctor.context import Context
from limes.auth import keystone, session
from limes.kernel.errors import BackendError, StartupError, Unavailable
from limes.kernel.findings import Finding, ok, problem, skipped, warning
from limes.ui import settings, single_sign_on

_NAME = "sign_in"


def check(context: Context) -> Iterator[Finding]:
    providers = context.settings.ui.sign_in_with if context.settings.ui.enabled else ()
    if not providers:
        yield skipped(_NAME, "ui.sign_in_with names no providers of single sign-on")
        return
    try:
        cloud = cluster.open_cloud(context.settings)
        cloud.session.timeout = min(context.timeout, context.settings.identity.keystone.timeout)
    except StartupError:
        yield skipped(f"{_NAME}.keystone", "Keystone cannot be asked (see keystone.login)")
        return
    for provider in providers:
        yield _address(context, cloud, provider)
        if provider.type == "oidc":
            yield _discovery(context, cloud, provider)
        yield _in_keystone(cloud, provider)


def _address(context: Context, cloud: session.CloudSession, provider: settings.SignInProvider) -> Finding:
    url, name = context.settings.ui.url, f"{_NAME}.address"
    address = single_sign_on.answer_address(url, provider.id)
    if provider.type == "oidc":
        sign_out = f"; for the sign-out, the post logout redirect URI {url}/ui" if provider.sign_out else ""
        return ok(name, f"{provider.id}: {provider.issuer} needs the redirect URI {address}{sign_out}")
    there = sign_ins.at_keystone(context.settings, cloud).browser_url(provider.identity_provider, provider.protocol)
    needs = f"keystone.conf needs [federation] trusted_dashboard = {address}"
    return ok(name, f"{provider.id}: {needs}; browsers go to {there}")


def _discovery(context: Context, cloud: session.CloudSession, provider: settings.SignInProvider) -> Finding:
    name = f"{_NAME}.provider"
    quick = provider.model_copy(update={"timeout": min(context.timeout, provider.timeout)})
    try:
        found = sign_ins.oidc_client(context.settings, quick, cloud, context.clock).discover()
    except Unavailable as error:
        mend = f"curl {str(provider.issuer).rstrip('/')}/.well-known/openid-configuration; look at issuer and cacert"
        return problem(name, f"{provider.id}: {error}", mend)
    if found.code_challenge_methods_supported and "S256" not in found.code_challenge_methods_supported:
        return problem(
            name, f"{provider.id}: the provider does not know PKCE with S256", "use another provider, or websso"
        )
    end = "has a sign-out" if found.end_session_endpoint else "has no sign-out of its own"
    return ok(name, f"{provider.id}: the provider answers, is {found.issuer}, and {end}")


def _in_keystone(cloud: session.CloudSession, provider: settings.SignInProvider) -> Finding:
    """Keystone tells those who may list identity providers, which are admins as a rule."""
    name, protocol, idp = f"{_NAME}.keystone", provider.protocol, provider.identity_provider
    base = f"{keystone.v3_url(str(cloud.auth_url))}/OS-FEDERATION/identity_providers"
    try:
        listed = cloud.session.get(base, log=False).json()["identity_providers"]
        names = [one["id"] for one in listed if one["id"] == idp or idp is None]
        protocols = {one: _protocols(cloud, f"{base}/{one}/protocols") for one in names}
    except (ksa_errors.ClientException, requests.RequestException, BackendError, ValueError, KeyError) as error:
        return skipped(
            name, f"{provider.id}: Keystone does not say what it knows of providers: {session.describe(error)}"
        )
    if idp is not None and not names:
        known = ", ".join(sorted(one["id"] for one in listed)) or "none"
        text = f"{provider.id}: Keystone has no identity provider {idp!r}; there are: {known}"
        return problem(
            name, text, f"openstack identity provider create {idp} --remote-id ISSUER, or correct the setting"
        )
    having = [one for one, found in protocols.items() if protocol in found]
    if not having:
        of = f"the identity provider {idp}" if idp is not None else "no identity provider"
        text = f"{provider.id}: in Keystone, {of} has {'no' if idp else 'a'} protocol {protocol!r}"
        mend = f"openstack federation protocol create {protocol} --identity-provider {idp or 'NAME'} --mapping MAPPING"
        return problem(name, text, mend)
    off = [one["id"] for one in listed if one["id"] in having and not one.get("enabled", True)]
    if off == having:
        mend = f"openstack identity provider set --enable {off[0]}"
        return warning(name, f"{provider.id}: Keystone has the identity provider {off[0]} switched off", mend)
    return ok(name, f"{provider.id}: Keystone knows {', '.join(having)} with the protocol {protocol}")


def _protocols(cloud: session.CloudSession, url: str) -> list[str]:
    return [protocol["id"] for protocol in cloud.session.get(url, log=False).json()["protocols"]]
