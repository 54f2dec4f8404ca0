"""The consistency job: rows that mirror the configuration, and the constraints on domain quotas.

Constraints on project quotas are enforced by each scrape. Every change is logged, as nobody asked for it.
"""

import logging
from dataclasses import dataclass
from functools import partial

from limes.actions.change_log import ChangeLog, scope_of
from limes.actions.sync_catalog import SyncCatalog
from limes.core.catalog import Catalog
from limes.core.constraints import ConstraintSet
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import domain_quotas as queries
from limes.db.queries.projects import domains

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CheckConsistency:
    engine: Engine
    catalog: Catalog
    constraints: ConstraintSet
    sync_catalog: SyncCatalog
    change_log: ChangeLog

    def run(self) -> None:
        """Brings everything into line. Running it again changes nothing more."""
        self.sync_catalog.run(prune=True)
        self.engine.atomic(self._enforce_domain_constraints)

    def _enforce_domain_constraints(self) -> None:
        ids = catalog_queries.resource_ids(self.engine)
        names = {id_: ref for ref, id_ in ids.items()}
        for domain in domains(self.engine):
            wanted = {
                ids[ref]: constraint
                for ref, constraint in self.constraints.domains.get(domain.name, {}).items()
                if ref in ids and not self.catalog.autogrow(ref)
            }
            if not wanted:
                continue
            queries.lock_domain_quotas(self.engine, domain.id, sorted(wanted))
            quotas = queries.domain_quotas_by_resource(self.engine, sorted(wanted))
            changed = {
                id_: constraint.apply_to(quotas[domain.id, id_])
                for id_, constraint in wanted.items()
                if not constraint.allows(quotas[domain.id, id_])
            }
            for id_, quota in changed.items():
                text = (
                    f"AUDIT: domain {domain.name}, resource {'/'.join(names[id_])}:"
                    f" quota {quotas[domain.id, id_]} -> {quota}, as its constraint demands"
                )
                # after the commit: until then the transaction may be rolled back or run again
                self.engine.after_commit(partial(log.warning, "%s", text))
            if changed:
                queries.write_domain_quotas(self.engine, domain.id, changed)
                self.change_log.record_constrained(
                    scope_of(domain),
                    [(names[id_], quotas[domain.id, id_], quota, wanted[id_]) for id_, quota in changed.items()],
                )
