"""Databases of the Go Limes, and imports from them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from limes.app.importer.run import Import, ImportResult
from limes.app.importer.source import open_source
from limes.catalog.catalog import Catalog, DistributionRule, ServiceDef
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.kernel.system import SystemIds
from limes.quota.constraints import NO_OVERRIDES, QuotaOverrides
from tests.api.world import SERVICES, World, make_world
from tests.commitments.commitments import BEHAVIORS
from tests.importer.go_limes import GoLimes
from tests.support.clock import FrozenClock
from tests.support.databases import MigratedUrlFactory, UrlFactory
from tests.support.limes import capacitors, make_limes


@pytest.fixture
def go_limes(postgres_url_factory: UrlFactory) -> Iterator[Callable[..., Any]]:
    """Makes a database of the Go Limes with a schema version."""
    made = []

    def make(version: int = 37) -> GoLimes:
        made.append(GoLimes(postgres_url_factory(), version))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def target(database_url_with: MigratedUrlFactory) -> Iterator[Engine]:
    engine = Engine(database_url_with(limes_migrations))
    yield engine
    engine.close()


class Case:
    """An import that can be run again."""

    def __init__(
        self,
        go_limes: Any,
        target: Engine,
        zones: tuple[Any, ...] = ("az-one", "az-two"),
        services: list[ServiceDef] = SERVICES,
        distributions: Sequence[DistributionRule] = (),
        overrides: QuotaOverrides = NO_OVERRIDES,
    ) -> None:
        self.source = open_source(go_limes.url)
        self.target = target
        self.clock = FrozenClock()
        catalog = Catalog(list(zones), services, distributions=distributions)
        limes = make_limes(target, catalog, clock=self.clock, backends=capacitors("inventory"))
        self.use_case = Import(self.source, target, catalog, limes, SystemIds(), overrides=overrides)

    def run(self, **options: bool) -> ImportResult:
        try:
            return self.use_case.run(**{"apply": True, **options})
        finally:
            self.source.close()

    @property
    def world(self) -> World:
        return make_world(self.target, fill=False, behaviors=BEHAVIORS)
