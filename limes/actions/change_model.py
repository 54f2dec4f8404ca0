"""Follows the configured distribution models: quota that people have set begins to follow usage, or is theirs again.

From hierarchical to autogrow, all quotas stay as they are until the first computation, which starts from them. Back,
the quotas of projects stay, and each domain gets the sum of its projects' as its own. Both are done once, whatever the
number of collectors: the locked row of the resource says which model it has.
"""

import logging
from functools import partial

from limes.actions import change_log
from limes.actions.compute_quota import autogrow_rule
from limes.actions.context import Limes
from limes.audit.cadf import Scope
from limes.core.catalog import ANY_AZ, Ref
from limes.core.history import QuotaStep, Reason
from limes.core.units import MAX_AMOUNT
from limes.db.queries import autogrow as queries
from limes.db.queries.autogrow_figures import SET_BY_PEOPLE, mark_desynced
from limes.db.queries.catalog import resource_ids
from limes.db.transactions import atomic

log = logging.getLogger(__name__)


@atomic
def follow_models(limes: Limes) -> None:
    """Gives resources the configured model; to be called when a collector starts. Those that are not configured any
    more keep theirs.

    Collectors with different configurations would undo each other's changes with each start, without loss: so restart
    all of them.
    """
    refs = {id_: ref for ref, id_ in resource_ids(limes.engine).items() if limes.catalog.find(ref)}
    for id_, due_at in queries.lock_models(limes.engine, sorted(refs)):
        grows = autogrow_rule(limes.catalog, refs[id_]) is not None
        if grows and due_at is None:
            _start_growth(limes, id_, refs[id_])
        elif not grows and due_at is not None:
            _end_growth(limes, id_, refs[id_])


def _start_growth(limes: Limes, id_: int, ref: Ref) -> None:
    queries.forget_growth(limes.engine, id_)
    queries.start_from_set_quota(limes.engine, id_, ANY_AZ, SET_BY_PEOPLE)
    queries.set_due(limes.engine, id_, limes.now())
    _log(limes, "quota of %s follows usage and commitments from now on (model autogrow)", ref)


def _end_growth(limes: Limes, id_: int, ref: Ref) -> None:
    engine = limes.engine
    queries.lock_domains(engine, id_)
    definition = limes.catalog.find(ref)
    if definition is not None and definition.az_separated:  # it was told by AZ what is now for all of them
        mark_desynced(engine, id_, queries.projects_with_split(engine, id_), limes.now())
    queries.forget_growth(engine, id_)
    queries.set_due(engine, id_, None)
    queries.forget_outcomes(engine, ["/".join(ref)])
    sums = [row for row in queries.domain_sums(engine, id_) if row.quota != row.projects_quota]
    quotas = {row.id: min(int(row.projects_quota), MAX_AMOUNT) for row in sums}
    if quotas:
        queries.write_domain_quotas(engine, id_, quotas)
        reason = Reason.DISTRIBUTION_MODEL
        detail = "hierarchical instead of autogrow: the sum of the domain's project quotas"
        unit = limes.catalog.unit_of(ref)
        change_log.record_quotas(
            limes,
            [
                (Scope(row.uuid, row.name), QuotaStep(ref, unit, row.quota, quotas[row.id], reason, detail))
                for row in sums
            ],
        )
    _log(limes, "quota of %s is set by people from now on (model hierarchical)", ref)


def _log(limes: Limes, text: str, ref: Ref) -> None:
    """Logs after the commit: a transaction may be run again, or not at all."""
    limes.engine.after_commit(partial(log.info, text, "/".join(ref)))
