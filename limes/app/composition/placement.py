"""The Placement API's collaborators."""

import logging
from contextlib import closing

from msgspec import Struct

from limes.app.composition import cluster, common, identity
from limes.app.databases import with_standbys
from limes.app.settings import Settings
from limes.db.connections import DatabaseAddress
from limes.db.engine import Engine
from limes.kernel.errors import Unavailable
from limes.kernel.system import SystemClock, SystemIds, garbage_collector_paused, tune_garbage_collector
from limes.placement.call import PlacementCollaborators
from limes.placement.index import ProviderIndex
from limes.placement.objects.vocabulary import prepare

log = logging.getLogger(__name__)


class _Loaded(Struct):
    """What this process, or the one that it was forked from, has read last."""

    address: DatabaseAddress | None = None
    index: ProviderIndex | None = None


_loaded = _Loaded()


def build_placement(settings: Settings) -> PlacementCollaborators:
    """Opens everything that the API works with, brings the standard names up to date, and fills the index."""
    identity.refuse_exposure(settings, "placement")
    primary = common.open_checked_placement_engine(settings, "limes-placement")
    clock = SystemClock()
    prepare(primary, clock)
    engine = with_standbys(settings, primary, "limes-placement", "placement")
    return PlacementCollaborators(
        client_address=identity.client_address(settings),
        engine=engine,
        index=_filled_index(primary, clock),
        authenticator=identity.open_authenticator(
            settings, cluster.open_cloud(settings, settings.placement.threads), allow_noauth=True
        ),
        policy=identity.placement_policy(settings),
        clock=clock,
        ids=SystemIds(),
        settings=settings.placement,
    )


def load_index(settings: Settings) -> None:
    """Reads all providers, so that the workers that are forked from this process share the memory. Each of them only
    has to read what has changed since. Raises `LimesError`. Nothing stays open: no connection may be used on both sides
    of a fork."""
    with closing(common.open_checked_placement_engine(settings, "limes-placement")) as engine:
        clock = SystemClock()
        prepare(engine, clock)
        index = _begin_index(engine, clock)
        with garbage_collector_paused():
            index.current()
        _loaded.address, _loaded.index = engine.address, index
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
