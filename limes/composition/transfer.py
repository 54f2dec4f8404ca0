"""Both ends of an import: the source as configured or named, and our own Placement in this process."""

from typing import Any

from keystoneauth1.adapter import Adapter
from keystoneauth1.token_endpoint import Token

from limes.auth.noauth import NoAuthAuthenticator
from limes.composition.common import open_checked_placement_engine
from limes.composition.identity import answer_limits, open_cloud
from limes.outgoing import keystone_session
from limes.placement.app import create_app
from limes.placement.collaborators import PlacementCollaborators
from limes.placement.index import ProviderIndex
from limes.placement.policy import PlacementPolicy
from limes.placement.startup import prepare
from limes.placement.transfer.api import LocalApi, RemoteApi
from limes.settings import Settings
from limes.system import SystemClock, SystemIds

_RETRIES = 3


def open_source(settings: Settings, url: str, token: str | None) -> RemoteApi:
    """The Placement at a URL, asked with this token or else with our own login. Raises `BackendError`."""
    retries: dict[str, Any] = {
        "connect_retries": _RETRIES,
        "status_code_retries": _RETRIES,
        "retriable_status_codes": [502, 503, 504],
    }
    if token is not None:
        session = keystone_session(Token(url, token), limits=answer_limits(settings), timeout=settings.answers.timeout)
        return RemoteApi(Adapter(session, endpoint_override=url, **retries), url)
    return RemoteApi(open_cloud(settings).adapter("placement", url, timeout=settings.answers.timeout, **retries), url)


def open_local(settings: Settings) -> LocalApi:
    """Our Placement on the configured database, with its own policy: who can run this command may do everything."""
    engine = open_checked_placement_engine(settings, "limes-placement-import")
    clock = SystemClock()
    prepare(engine, clock)
    deps = PlacementCollaborators(
        engine=engine,
        index=ProviderIndex(engine, clock),
        authenticator=NoAuthAuthenticator("127.0.0.1:0"),
        policy=PlacementPolicy(None, enforce_new_defaults=True),
        clock=clock,
        ids=SystemIds(),
        settings=settings.placement,
    )
    return LocalApi(create_app(deps))
