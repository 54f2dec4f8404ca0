"""Changes domain quotas that contradict a constraint. Project quotas are looked after by each scrape."""

import logging
from dataclasses import dataclass

from limes.core.catalog import Catalog, Ref
from limes.core.constraint_set import ConstraintSet
from limes.core.constraints import Constraint
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import quotas as queries
from limes.db.queries import reports
from limes.db.queries.reports import DomainRow

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EnforceConstraints:
    """The use case with what it works with."""

    engine: Engine
    catalog: Catalog
    constraints: ConstraintSet

    def run(self) -> None:
        """Looks at all domains for which there are constraints, each in a transaction of its own."""
        domains = self.engine.snapshot(lambda: reports.domains(self.engine))
        for domain in domains:
            demanded = self._demanded(domain)
            if demanded:
                self.engine.atomic(lambda domain=domain, demanded=demanded: self._enforce(domain, demanded))  # type: ignore[misc]

    def _demanded(self, domain: DomainRow) -> dict[Ref, Constraint]:
        found = {ref: self.constraints.for_domain(ref, domain.name) for ref in self.catalog.refs()}
        return {ref: constraint for ref, constraint in found.items() if constraint is not None}

    def _enforce(self, domain: DomainRow, demanded: dict[Ref, Constraint]) -> None:
        ids = catalog_queries.resource_ids(self.engine)
        constraints = {ids[ref]: constraint for ref, constraint in demanded.items() if ref in ids}
        queries.lock_domain(self.engine, domain.id, sorted(constraints))
        quotas = reports.domain_quotas(self.engine, sorted(constraints), domain.id)
        changes = {}
        for resource, constraint in constraints.items():
            old = quotas.get((domain.id, resource), 0)
            if not constraint.allows(old):
                changes[resource] = constraint.apply_to(old)
                log.warning(
                    "quota of domain %s, resource id %d: changed from %d to %d by its constraint",
                    domain.name, resource, old, changes[resource],
                )  # fmt: skip
        if changes:
            queries.write_domain_quotas(self.engine, domain.id, changes)
