"""Resources that a configuration gives another distribution model, told before a collector starts with it."""

from collections.abc import Sequence
from dataclasses import dataclass

from limes.actions.compute_quota import autogrow_rule
from limes.core.catalog import Catalog, Ref
from limes.db.engine import Engine
from limes.db.queries import holdings as queries
from limes.db.queries.autogrow import computed_resources
from limes.db.queries.holdings import Holdings
from limes.db.transactions import snapshot
from limes.system import Clock


@dataclass(frozen=True, slots=True)
class ChangedModel:
    """A resource, what there is of it, and its model before and after."""

    ref: Ref
    before: str
    after: str
    holdings: Holdings


@dataclass(frozen=True, slots=True)
class CompareModels:
    """The use case. Nothing is written."""

    engine: Engine
    catalog: Catalog
    clock: Clock

    @snapshot
    def run(self) -> Sequence[ChangedModel]:
        """Compares in one snapshot. Resources of which there is nothing are left out."""
        growing = {(row.service_type, row.name) for row in computed_resources(self.engine)}
        now = self.clock.now().timestamp()
        changed = []
        for resource in queries.resources(self.engine):
            definition = self.catalog.find(resource.ref)
            if not resource.is_known or definition is None or not definition.tracks_quota:
                continue
            grew, grows = resource.ref in growing, autogrow_rule(self.catalog, resource.ref) is not None
            if grew != grows and any(found := queries.holdings(self.engine, resource.id, now)):
                changed.append(ChangedModel(resource.ref, _model(grew), _model(grows), found))
        return changed


def _model(grows: bool) -> str:
    return "autogrow" if grows else "hierarchical"
