"""The dashboard, where it is wanted."""

from limes.auth.context import Authenticator
from limes.auth.revoked import RevokedTokens
from limes.auth.session import CloudSession
from limes.settings import Settings
from limes.system import Clock
from limes.ui.doors import Door
from limes.ui.keystone_door import KeystoneDoor
from limes.ui.mount import dashboard
from limes.ui.sample_door import SampleDoor
from limes.ui.session import ScopesEndpoint, SessionEndpoint
from limes.ui.throttle import Throttle
from limes.web.mount import Mount


def dashboard_mounts(
    settings: Settings, cloud: CloudSession, authenticator: Authenticator, revoked: RevokedTokens, clock: Clock
) -> tuple[Mount, ...]:
    """The mount of the dashboard, or none. Raises `StartupError` if it is not built."""
    if not settings.ui.enabled:
        return ()
    door: Door
    if settings.identity.method == "sample":
        door = SampleDoor(settings.identity.sample)
    else:
        door = KeystoneDoor(cloud, settings.ui.user_domain, revoked)
    at_once = max(1, settings.api.threads // 2)
    session = SessionEndpoint(
        door,
        authenticator,
        Throttle(clock),
        title=settings.ui.title,
        at_once=at_once,
    )
    return (dashboard(session, ScopesEndpoint(door, at_once)),)
