"""The consistency job: rows that mirror the configuration, and the constraints on domain quotas.

Constraints on project quotas are enforced by each scrape. Every change is logged, as nobody asked for it.
"""

import logging
from functools import partial

from limes.actions import change_log
from limes.actions.change_log import scope_of
from limes.actions.context import Limes
from limes.actions.sync_catalog import sync_catalog
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import quotas as queries
from limes.db.queries.projects import domains
from limes.db.transactions import atomic

log = logging.getLogger(__name__)


def check_consistency(limes: Limes) -> None:
    """Brings everything into line. Running it again changes nothing more."""
    sync_catalog(limes, prune=True)
    _enforce_domain_constraints(limes)


@atomic
def _enforce_domain_constraints(limes: Limes) -> None:
    ids = catalog_queries.resource_ids(limes.engine)
    names = {id_: ref for ref, id_ in ids.items()}
    for domain in domains(limes.engine):
        wanted = {
            ids[ref]: constraint
            for ref, constraint in limes.constraints.domains.get(domain.name, {}).items()
            if ref in ids and not limes.catalog.autogrow(ref)
        }
        if not wanted:
            continue
        queries.lock_domain_quotas(limes.engine, domain.id, sorted(wanted))
        quotas = queries.domain_quotas_by_resource(limes.engine, sorted(wanted))
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
            limes.engine.after_commit(partial(log.warning, "%s", text))
        if changed:
            queries.write_domain_quotas(limes.engine, domain.id, changed)
            change_log.record_constrained(
                limes,
                scope_of(domain),
                [(names[id_], quotas[domain.id, id_], quota, wanted[id_]) for id_, quota in changed.items()],
            )
