"""Databases of the Go Limes, and imports from them."""

import pytest

from limes.actions.sync_catalog import SyncCatalog
from limes.core.catalog import Catalog
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.importer.run import Import
from limes.importer.source import open_source
from limes.system import SystemIds
from tests.api.commitments import BEHAVIORS
from tests.api.world import SERVICES, make_world
from tests.importer.go_limes import GoLimes
from tests.support.clock import FrozenClock


@pytest.fixture
def go_limes(postgres_url_factory):
    """Makes a database of the Go Limes with a schema version."""
    made = []

    def make(version=37):
        made.append(GoLimes(postgres_url_factory(), version))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def target(database_url_with):
    engine = Engine(database_url_with(limes_migrations))
    yield engine
    engine.close()


class Case:
    """An import that can be run again."""

    def __init__(self, go_limes, target, zones=("az-one", "az-two"), services=SERVICES) -> None:
        self.source = open_source(go_limes.url)
        self.target = target
        self.clock = FrozenClock()
        catalog = Catalog(list(zones), services)
        sync = SyncCatalog(target, catalog, ["inventory"], self.clock)
        self.use_case = Import(self.source, target, catalog, sync, SystemIds())

    def run(self, **options):
        try:
            return self.use_case.run(**{"apply": True, **options})
        finally:
            self.source.close()

    @property
    def world(self):
        return make_world(self.target, fill=False, behaviors=BEHAVIORS)
