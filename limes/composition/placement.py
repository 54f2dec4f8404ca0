"""The Placement API's collaborators, and what the commands `placement audit` and `placement import` work with."""

import logging
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import requests
from keystoneauth1 import exceptions as ksa_errors
from keystoneauth1.adapter import Adapter
from keystoneauth1.token_endpoint import Token

from limes.auth.session import CloudSession, describe
from limes.auth.without_keystone import NoAuthAuthenticator
from limes.backends import DiscoveryBackend, calls
from limes.composition.cluster import build_cluster
from limes.composition.common import open_checked_placement_engine
from limes.composition.identity import client_address, open_authenticator, open_cloud, placement_policy, refuse_exposure
from limes.composition.replicas import with_standbys
from limes.db.connections import DatabaseAddress
from limes.db.engine import Engine
from limes.errors import BackendError, Unavailable
from limes.memory import garbage_collector_paused, tune_garbage_collector
from limes.outgoing import keystone_session
from limes.placement.app import create_app
from limes.placement.audit import FindGone
from limes.placement.call import PlacementCollaborators
from limes.placement.index import ProviderIndex
from limes.placement.objects.vocabulary import prepare
from limes.placement.routes import open_policy
from limes.placement.transfer.api import LocalApi, RemoteApi
from limes.settings import Settings
from limes.system import SystemClock, SystemIds

_RETRIES = 3

log = logging.getLogger(__name__)


@dataclass
class _Loaded:
    """What this process, or the one that it was forked from, has read last."""

    address: DatabaseAddress | None = None
    index: ProviderIndex | None = None


_loaded = _Loaded()


def build_placement(settings: Settings) -> PlacementCollaborators:
    """Opens everything that the API works with, brings the standard names up to date, and fills the index."""
    refuse_exposure(settings, "placement")
    primary = open_checked_placement_engine(settings, "limes-placement")
    clock = SystemClock()
    prepare(primary, clock)
    engine = with_standbys(settings, primary, "limes-placement", "placement")
    return PlacementCollaborators(
        client_address=client_address(settings),
        engine=engine,
        index=_filled_index(primary, clock),
        authenticator=open_authenticator(settings, open_cloud(settings, settings.placement.threads), allow_noauth=True),
        policy=placement_policy(settings),
        clock=clock,
        ids=SystemIds(),
        settings=settings.placement,
    )


def load_index(settings: Settings) -> None:
    """Reads all providers, so that the workers that are forked from this process share the memory. Each of them only
    has to read what has changed since. Raises `LimesError`.

    Nothing stays open: no connection may be used on both sides of a fork.
    """
    engine = open_checked_placement_engine(settings, "limes-placement")
    try:
        clock = SystemClock()
        prepare(engine, clock)
        index = _begin_index(engine, clock)
        with garbage_collector_paused():
            index.current()
        _loaded.address, _loaded.index = engine.address, index
    finally:
        engine.close()
    tune_garbage_collector()


def _begin_index(engine: Engine, clock: SystemClock) -> ProviderIndex:
    """Returns an index that begins with what is known of this database. It may be old."""
    if _loaded.index is not None and _loaded.address == engine.address:
        return _loaded.index.heir(engine)
    return ProviderIndex(engine, clock)


def _filled_index(engine: Engine, clock: SystemClock) -> ProviderIndex:
    """Returns an index that is up to date, unless the database fails just now: then the health check will fill it."""
    index = _begin_index(engine, clock)
    try:
        with garbage_collector_paused():
            index.current()
    except Unavailable as error:
        log.warning("the provider index is not filled yet: %s", error)
    _loaded.address, _loaded.index = engine.address, index
    return index


def open_source(settings: Settings, url: str, token: str | None) -> RemoteApi:
    """Returns the Placement at a URL, asked with this token or else with our own login. Raises `BackendError`."""
    retries: dict[str, Any] = {
        "connect_retries": _RETRIES,
        "status_code_retries": _RETRIES,
        "retriable_status_codes": [502, 503, 504],
    }
    if token is not None:
        session = keystone_session(Token(url, token), limits=settings.answers, timeout=settings.answers.timeout)
        return RemoteApi(Adapter(session, endpoint_override=url, **retries), url)
    return RemoteApi(open_cloud(settings).adapter("placement", url, timeout=settings.answers.timeout, **retries), url)


def open_local(settings: Settings) -> LocalApi:
    """Returns our Placement on the configured database. Whoever can run this command may do everything."""
    engine = open_checked_placement_engine(settings, "limes-placement-import")
    clock = SystemClock()
    prepare(engine, clock)
    deps = PlacementCollaborators(
        engine=engine,
        index=ProviderIndex(engine, clock),
        authenticator=NoAuthAuthenticator("127.0.0.1:0"),
        policy=open_policy(None, enforce_new_defaults=True),
        clock=clock,
        ids=SystemIds(),
        settings=settings.placement,
    )
    return LocalApi(create_app(deps))


def open_find_gone(settings: Settings) -> FindGone:
    """Tells by the configured discovery which projects are gone. Nothing is asked yet. Raises `ConfigError`.

    `discovery.except_domains` and `only_domains` say what Limes manages, not what exists, so they do not count here.
    With Keystone, each project that is missing from its lists is asked for by its id as well: with too few rights, the
    lists would only be shorter.
    """
    cloud = open_cloud(settings)
    backend = build_cluster(settings, cloud).backends.discovery
    confirm = settings.identity.method == "keystone"

    def find_gone(ids: Collection[str]) -> Collection[str]:
        missing = set(ids) - _existing(backend)
        return {project_id for project_id in missing if not confirm or _is_gone(cloud, project_id)}

    return find_gone


def _existing(backend: DiscoveryBackend) -> set[str]:
    """Returns all ids of projects, and those of domains, which can own things as well. Raises `BackendError`."""
    domains = calls.list_domains(backend, None, None)
    projects = {project.id for domain in domains for project in calls.list_projects(backend, domain)}
    if not projects:
        raise BackendError("discovery finds no project at all, so it cannot be right that projects are gone")
    return projects | {domain.id for domain in domains}


def _is_gone(cloud: CloudSession, project_id: str) -> bool:
    """Returns whether Keystone itself, and not a proxy in between, says that it does not exist. Raises
    `BackendError`."""
    path = f"/projects/{quote(project_id, safe='')}"
    try:
        answer = cloud.adapter("identity", min_version=(3, 0)).get(path, raise_exc=False)
    except (ksa_errors.ClientException, BackendError) as error:
        raise BackendError(f"while looking for the project {project_id}: {describe(error)}") from None
    if answer.status_code == 200:
        return False
    if _error_code(answer) == 404:
        return True
    raise BackendError(f"while looking for the project {project_id}: Keystone answers HTTP {answer.status_code}")


def _error_code(answer: requests.Response) -> int | None:
    try:
        return int(answer.json()["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return None
