"""Who may use the APIs, and how we log in elsewhere."""

from collections.abc import Mapping

from limes.auth.build import build_authenticator
from limes.auth.context import Authenticator
from limes.auth.noauth import NoAuthAuthenticator
from limes.auth.session import CloudSession, open_session
from limes.errors import StartupError
from limes.seams import SystemClock
from limes.settings import Settings


def open_cloud(settings: Settings) -> CloudSession:
    """Our own login. Nothing is asked yet."""
    return open_session(settings.identity)


def open_authenticator(settings: Settings, cloud: CloudSession, *, allow_noauth: bool = False) -> Authenticator:
    """Who validates tokens. Raises `StartupError` where the API cannot do without identities."""
    if settings.identity.method == "noauth":
        if not allow_noauth:
            raise StartupError("identity.method: noauth is for the Placement API only; use keystone or sample here")
        return NoAuthAuthenticator(
            settings.placement.listen,
            allow_remote=settings.identity.allow_non_loopback or settings.placement.allow_remote_noauth,
        )
    return build_authenticator(settings.identity, cloud, SystemClock())


def refuse_exposure(settings: Settings, process: str) -> None:
    """Raises `StartupError` if anybody could be anybody on an address that others can reach."""
    listen: Mapping[str, str] = {
        "api": {"api.listen": settings.api.listen},
        "placement": {"placement.listen": settings.placement.listen},
        "liquid": {"liquid.listen": settings.liquid.listen},
    }[process]
    settings.identity.refuse_exposure(listen)
