"""Who may use the APIs, and how we log in elsewhere."""

import os
from collections.abc import Mapping
from pathlib import Path

from limes.auth.build import build_authenticator
from limes.auth.context import Authenticator
from limes.auth.noauth import NoAuthAuthenticator
from limes.auth.revoked import RevocationsFirst, RevokedTokens
from limes.auth.session import CloudSession, open_session
from limes.errors import StartupError
from limes.outgoing import AnswerLimits
from limes.settings import Settings
from limes.system import SystemClock
from limes.web.client_address import ClientAddress


def open_cloud(settings: Settings) -> CloudSession:
    """Our own login. Nothing is asked yet."""
    return open_session(settings.identity, answer_limits(settings))


def answer_limits(settings: Settings) -> AnswerLimits:
    """What is taken of the answers of other servers."""
    return AnswerLimits(**settings.answers.model_dump())


def open_authenticator(
    settings: Settings,
    cloud: CloudSession,
    *,
    threads: int = 8,
    allow_noauth: bool = False,
    revoked: RevokedTokens | None = None,
) -> Authenticator:
    """Who validates tokens, for a process that answers with so many threads. `revoked` is what the process has of
    `open_revoked`, if it signs people out itself.

    Raises `StartupError` where the API cannot do without identities.
    """
    if settings.identity.method == "noauth":
        if not allow_noauth:
            raise StartupError("identity.method: noauth is for the Placement API only; use keystone or sample here")
        return NoAuthAuthenticator(
            settings.placement.listen,
            allow_remote=settings.identity.allow_non_loopback or settings.placement.allow_remote_noauth,
        )
    authenticator = build_authenticator(settings.identity, cloud, SystemClock(), threads)
    if settings.identity.method != "keystone":
        return authenticator
    if revoked is None and settings.identity.cache.signed_out_folder is not None:
        revoked = open_revoked(settings)
    return RevocationsFirst(authenticator, revoked) if revoked is not None else authenticator


def open_revoked(settings: Settings, environ: Mapping[str, str] = os.environ) -> RevokedTokens:
    """The tokens that were ended by signing out. The workers of one server share the folder of their metrics anyway."""
    cache, shared = settings.identity.cache, environ.get("PROMETHEUS_MULTIPROC_DIR")
    return RevokedTokens(SystemClock(), cache.ttl, cache.signed_out_folder or (Path(shared) if shared else None))


def client_address(settings: Settings) -> ClientAddress:
    """Tells clients from proxies."""
    return ClientAddress(settings.proxies.trusted, settings.proxies.header)


def refuse_exposure(settings: Settings, process: str) -> None:
    """Raises `StartupError` if anybody could be anybody on an address that others can reach."""
    listen: Mapping[str, str] = {
        "api": {"api.listen": settings.api.listen},
        "placement": {"placement.listen": settings.placement.listen},
        "liquid": {"liquid.listen": settings.liquid.listen},
    }[process]
    settings.identity.refuse_exposure(listen)
