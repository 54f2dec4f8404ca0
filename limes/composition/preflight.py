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
from limes.settings import Settings


@dataclass(frozen=True, slots=True)
class HttpProcess:
    """How gunicorn is to run an API."""

    listen: str
    workers: int
    threads: int


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
    section = settings.api if process == "api" else settings.placement
    if process == "api":
        limes_policy(settings)
        build_cluster(settings, cloud)
    else:
        placement_policy(settings)
    return HttpProcess(section.listen, section.workers, section.threads)


def _check_liquid(settings: Settings) -> HttpProcess:
    build_liquid(settings)
    if settings.identity.method == "keystone":
        open_cloud(settings).check()
    section = liquid_settings(settings).liquid
    return HttpProcess(section.listen, section.workers, section.threads)
