"""What an HTTP process looks at once, before it starts any worker, so that a mistake is one clear line."""

from dataclasses import dataclass

from limes.composition.cluster import build_cluster
from limes.composition.common import (
    load_any_settings,
    load_settings,
    open_checked_engine,
    open_checked_placement_engine,
)
from limes.composition.identity import open_authenticator, open_cloud, refuse_exposure
from limes.composition.liquid import build_liquid, liquid_settings
from limes.composition.policy import limes_policy, placement_policy
from limes.errors import StartupError
from limes.liquid.endpoints import MAX_BODY_SIZE
from limes.settings import Settings
from limes.settings.placement import PlacementSettings
from limes.settings.processes import ApiSettings, LiquidSettings
from limes.web.limits import Limits


@dataclass(frozen=True, slots=True)
class HttpProcess:
    """How gunicorn is to run an API."""

    listen: str
    workers: int
    threads: int
    connections: int
    """Open connections of each worker."""
    limits: Limits


def check_http_process(process: str) -> HttpProcess:
    """Checks settings, database, schema, Keystone, policy and backends of `api`, `placement` or `liquid`.

    Raises `ConfigError` or another `LimesError`. All connections are closed again.
    """
    if process not in ("api", "placement", "liquid"):
        raise StartupError(f"LIMES_PROCESS: expected api, placement or liquid, not {process!r}")
    settings = load_any_settings() if process == "placement" else load_settings()
    if process == "liquid":
        return _check_liquid(settings)
    refuse_exposure(settings, process)
    open_engine = open_checked_engine if process == "api" else open_checked_placement_engine
    open_engine(settings, f"limes-{process}").close()
    cloud = open_cloud(settings)
    open_authenticator(settings, cloud, allow_noauth=process == "placement")
    if settings.identity.method == "keystone":
        cloud.check()
    if process == "api":
        limes_policy(settings)
        build_cluster(settings, cloud)
        return _http_process(settings.api, settings.api.max_body_size)
    placement_policy(settings)
    return _http_process(settings.placement, settings.placement.bounds.max_body_size)


def _check_liquid(settings: Settings) -> HttpProcess:
    build_liquid(settings)
    if settings.identity.method == "keystone":
        open_cloud(settings).check()
    return _http_process(liquid_settings(settings).liquid, MAX_BODY_SIZE)


def _http_process(section: ApiSettings | PlacementSettings | LiquidSettings, max_body_size: int) -> HttpProcess:
    clients = section.clients
    limits = Limits(
        header_timeout=clients.header_timeout,
        body_timeout=clients.body_timeout,
        send_timeout=clients.send_timeout,
        min_rate=clients.min_rate,
        connections_per_peer=clients.connections_per_peer,
        max_body_size=max_body_size,
    )
    return HttpProcess(section.listen, section.workers, section.threads, clients.connections, limits)
