"""Who may use the APIs and what they may do."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from limes.app.settings import Settings
from limes.auth import context, keystone, session, without_keystone
from limes.auth.settings import IdentitySettings
from limes.auth.tokens import RevocationsFirst, RevokedTokens, TokenCache
from limes.kernel.errors import StartupError
from limes.kernel.system import Clock, SystemClock

if TYPE_CHECKING:
    from limes.placement.call import PlacementPolicy
    from limes.web.middleware import ClientAddress


def open_authenticator(
    settings: Settings, cloud: session.CloudSession, *, allow_noauth: bool = False, revoked: RevokedTokens | None = None
) -> context.Authenticator:
    """Returns the authenticator. `revoked` is the result of `open_revoked`, if the process signs people out itself.
    Raises `StartupError` where the API cannot do without identities."""
    if settings.identity.method == "noauth":
        if not allow_noauth:
            raise StartupError("identity.method: noauth is for the Placement API only; use keystone or sample here")
        return without_keystone.NoAuthAuthenticator(
            settings.placement.listen,
            allow_remote=settings.identity.allow_non_loopback or settings.placement.allow_remote_noauth,
        )
    authenticator = build_authenticator(settings.identity, cloud, SystemClock())
    if settings.identity.method != "keystone":
        return authenticator
    if revoked is None and settings.identity.cache.signed_out_folder is not None:
        revoked = open_revoked(settings)
    return RevocationsFirst(authenticator, revoked) if revoked is not None else authenticator


def open_revoked(settings: Settings) -> RevokedTokens:
    """Returns the tokens ended by signing out. The workers of one server share the folder of their metrics anyway."""
    return RevokedTokens(SystemClock(), settings.identity.cache.ttl, shared_folder(settings))


def shared_folder(settings: Settings) -> Path | None:
    """Returns where the workers of one server, or the processes that are configured so, tell each other of sign-ins."""
    shared = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    return settings.identity.cache.signed_out_folder or (Path(shared) if shared else None)


def client_address(settings: Settings) -> "ClientAddress":
    from limes.web.middleware import ClientAddress  # with metrics of requests, which the collector does not have

    return ClientAddress(settings.proxies.trusted, settings.proxies.header)


def refuse_exposure(settings: Settings, process: str) -> None:
    """Raises `StartupError` if others could reach this address and claim any identity."""
    listens = {"api": settings.api.listen, "placement": settings.placement.listen, "liquid": settings.liquid.listen}
    settings.identity.refuse_exposure({f"{process}.listen": listens[process]})


def placement_policy(settings: Settings) -> "PlacementPolicy":
    """Raises `ConfigError` naming the file and what is wrong with it."""
    from limes.placement.routes import open_policy  # the whole API, which most processes do not have

    section = settings.placement
    return open_policy(section.policy_file, enforce_new_defaults=section.enforce_new_defaults)


def build_authenticator(settings: IdentitySettings, cloud: session.CloudSession, clock: Clock) -> context.Authenticator:
    """Returns the authenticator for `identity.method: keystone` or `sample`; `noauth` is the Placement API's own."""
    if settings.method == "sample":
        return without_keystone.SampleIdentities(settings.sample)
    uri = settings.keystone.www_authenticate_uri
    if settings.validator == "keystonemiddleware":
        from limes.auth.middleware_keystone import MiddlewareAuthenticator  # slow to import, and rarely wanted

        return MiddlewareAuthenticator(
            cloud,
            ttl=settings.cache.ttl,
            timeout=settings.keystone.timeout,
            service_token_roles=settings.service_token_roles,
            www_authenticate_uri=uri,
            size=settings.cache.size,
        )
    kept = settings.cache
    cache = TokenCache(clock, ttl=kept.ttl, negative_ttl=kept.negative_ttl, size=kept.size, gate=cloud.gate)
    roles = settings.service_token_roles
    return keystone.KeystoneAuthenticator(cloud, cache, clock, service_token_roles=roles, www_authenticate_uri=uri)
