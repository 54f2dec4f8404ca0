"""Follows the configured distribution models: quota that people have set begins to follow usage, or is theirs again.

From hierarchical to autogrow, all quotas stay as they are until the first computation, which starts from them. Back,
the quotas of projects stay, and each domain gets the sum of its projects' as its own. Both are done once, whatever the
number of collectors: the locked row of the resource says which model it has.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from limes.actions.change_log import ChangeLog
from limes.actions.compute_quota import autogrow_rule
from limes.audit.cadf import Scope
from limes.core.catalog import ANY_AZ, Catalog, Ref
from limes.core.history import QuotaStep, Reason
from limes.core.units import MAX_AMOUNT
from limes.db.engine import Engine
from limes.db.queries import autogrow as queries
from limes.db.queries.autogrow_figures import SET_BY_PEOPLE
from limes.db.queries.autogrow_quotas import mark_desynced
from limes.db.queries.catalog import resource_ids
from limes.db.transactions import atomic
from limes.system import Clock

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChangeModel:
    """The use case, for a collector that starts. Collectors with different configurations would undo each other's
    changes with each start, without loss: so restart all of them."""

    engine: Engine
    catalog: Catalog
    clock: Clock
    change_log: ChangeLog

    @atomic
    def run(self) -> None:
        """Changes the model of all resources whose model is not the configured one. Those that are not configured any
        more stay as they are."""
        refs = {id_: ref for ref, id_ in resource_ids(self.engine).items() if self.catalog.find(ref)}
        for id_, due_at in queries.lock_models(self.engine, sorted(refs)):
            grows = autogrow_rule(self.catalog, refs[id_]) is not None
            if grows and due_at is None:
                self._start_growth(id_, refs[id_])
            elif not grows and due_at is not None:
                self._end_growth(id_, refs[id_])

    def _start_growth(self, id_: int, ref: Ref) -> None:
        queries.forget_growth(self.engine, id_)
        queries.start_from_set_quota(self.engine, id_, ANY_AZ, SET_BY_PEOPLE)
        queries.set_due(self.engine, id_, self.clock.now().timestamp())
        self._log("quota of %s follows usage and commitments from now on (model autogrow)", ref)

    def _end_growth(self, id_: int, ref: Ref) -> None:
        queries.lock_domains(self.engine, id_)
        definition = self.catalog.find(ref)
        if definition is not None and definition.az_separated:  # it was told by AZ what is now for all of them
            projects = queries.projects_with_split(self.engine, id_)
            mark_desynced(self.engine, id_, projects, self.clock.now().timestamp())
        queries.forget_growth(self.engine, id_)
        queries.set_due(self.engine, id_, None)
        queries.forget_outcomes(self.engine, ["/".join(ref)])
        sums = [row for row in queries.domain_sums(self.engine, id_) if row.quota != row.projects_quota]
        quotas = {row.id: min(int(row.projects_quota), MAX_AMOUNT) for row in sums}
        if quotas:
            queries.write_domain_quotas(self.engine, id_, quotas)
            self.change_log.record_quotas([(Scope(row.uuid, row.name), self._step(ref, row, quotas)) for row in sums])
        self._log("quota of %s is set by people from now on (model hierarchical)", ref)

    def _step(self, ref: Ref, row: queries.DomainSum, quotas: Mapping[int, int]) -> QuotaStep:
        detail = "hierarchical instead of autogrow: the sum of the domain's project quotas"
        unit = self.change_log.unit_of(ref)
        return QuotaStep(ref, unit, row.quota, quotas[row.id], Reason.DISTRIBUTION_MODEL, detail)

    def _log(self, text: str, ref: Ref) -> None:
        """Logs after the commit: a transaction may be run again, or not at all."""
        self.engine.after_commit(partial(log.info, text, "/".join(ref)))
