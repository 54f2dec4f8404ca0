"""Brings the database into line with the configuration. Whatever the number of collectors, each change is made once.

Distribution models: from hierarchical to autogrow, all quotas stay as they are until the first computation, which
starts from them. Back, the quotas of projects stay, and each domain gets the sum of its projects' as its own. The
locked row of the resource says which model it has.

The consistency job: rows that mirror the configuration, and the constraints on domain quotas. Constraints on project
quotas are enforced by each scrape. Every change is logged, since no user asked for it.
"""

import logging
import threading
from functools import partial

from limes.app.context import Limes
from limes.audit.events import QuotaStep, Reason, Scope, What
from limes.autogrow import compute, figures
from limes.autogrow import queries as autogrow
from limes.catalog.catalog import ANY_AZ, Ref
from limes.catalog.queries import resource_ids
from limes.collector.sync_catalog import sync_catalog
from limes.db.transactions import atomic
from limes.kernel.units import MAX_AMOUNT
from limes.projects.queries import domains, projects_named
from limes.quota import change_log, history
from limes.quota import queries as quotas
from limes.quota.change_log import scope_of
from limes.quota.constraints import NO_OVERRIDES, QuotaOverrides

log = logging.getLogger(__name__)


@atomic
def follow_models(limes: Limes) -> None:
    """Gives resources the configured model; to be called when a collector starts. Those that are not configured any
    more keep theirs. Collectors with different configurations would undo each other's changes with each start, without
    loss: so restart all of them."""
    refs = {id_: ref for ref, id_ in resource_ids(limes.engine).items() if limes.catalog.find(ref)}
    for id_, due_at in autogrow.lock_models(limes.engine, sorted(refs)):
        ref, grows = refs[id_], compute.autogrow_rule(limes.catalog, refs[id_]) is not None
        if grows and due_at is None:
            autogrow.forget_growth(limes.engine, id_)
            autogrow.start_from_set_quota(limes.engine, id_, ANY_AZ, figures.SET_BY_PEOPLE)
            autogrow.set_due(limes.engine, id_, limes.now())
            _log(limes, "quota of %s follows usage and commitments from now on (model autogrow)", ref)
        elif not grows and due_at is not None:
            _end_growth(limes, id_, ref)
            _log(limes, "quota of %s is set by people from now on (model hierarchical)", ref)


def _end_growth(limes: Limes, id_: int, ref: Ref) -> None:
    engine, definition, unit = limes.engine, limes.catalog.find(ref), limes.catalog.unit_of(ref)
    autogrow.lock_domains(engine, id_)
    if definition is not None and definition.az_separated:  # its quota was pushed by AZ, and is now for all of them
        figures.mark_desynced(engine, id_, autogrow.projects_with_split(engine, id_), limes.now())
    autogrow.forget_growth(engine, id_)
    autogrow.set_due(engine, id_, None)
    autogrow.forget_outcomes(engine, ["/".join(ref)])
    detail = "hierarchical instead of autogrow: the sum of the domain's project quotas"
    sums, steps = {}, []
    for row in autogrow.domain_sums(engine, id_):
        if row.quota != row.projects_quota:
            sums[row.id] = min(int(row.projects_quota), MAX_AMOUNT)
            step = QuotaStep(ref, unit, row.quota, sums[row.id], Reason.DISTRIBUTION_MODEL, detail)
            steps.append((Scope(row.uuid, row.name), step))
    if sums:
        autogrow.write_domain_quotas(engine, id_, sums)
        change_log.record_quotas(limes, steps)


def _log(limes: Limes, text: str, ref: Ref) -> None:
    """Logs after the commit: a transaction may be run again, or not at all."""
    limes.engine.after_commit(partial(log.info, text, "/".join(ref)))


class FollowOverrides:
    """Has quota computed again where operators have changed overrides. A process has one, which knows what it has seen
    last. Several processes that see the same change have the same resources computed, which writes nothing the second
    time."""

    def __init__(self, limes: Limes) -> None:
        self._limes = limes
        self._seen = NO_OVERRIDES
        self._lock = threading.Lock()

    def run(self) -> bool:
        """Returns whether there are overrides that it has not seen; at first, all are new to it. What fails is done
        with the next run."""
        with self._lock:
            overrides, catalog, changed = self._limes.overrides(), self._limes.catalog, set[Ref]()
            if overrides is not self._seen:
                different = set(overrides.items()) ^ set(self._seen.items())
                changed = {entry.ref for entry in different if catalog.autogrow(entry.ref) is not None}
            if changed:
                _follow_overrides(self._limes, overrides, changed)
            self._seen = overrides
            return bool(changed)


@atomic
def _follow_overrides(limes: Limes, overrides: QuotaOverrides, refs: set[Ref]) -> None:
    """Has quota of these resources computed, and records what has changed since a collector last recorded it. Others
    that see the same change wait for the locks on the resources, and find nothing new."""
    engine, ids = limes.engine, resource_ids(limes.engine)
    autogrow.mark_due(engine, [ids[ref] for ref in sorted(refs) if ref in ids], limes.now())
    entries = [each for each in overrides.items() if each.ref in refs]
    projects = {(row.domain_name, row.name): row for row in projects_named(engine, {each.project for each in entries})}
    present = {
        history.OverridePlace(row.domain_uuid, row.uuid, *each.ref): each.quota
        for each in entries
        if (row := projects.get((each.domain, each.project)))
    }
    before = {place: quota for place, quota in history.overrides(engine).items() if place[2:] in refs}
    steps = []
    for place in sorted(before.keys() | present.keys()):
        old, new, ref = before.get(place), present.get(place), place[2:]
        if old != new:
            step = QuotaStep(ref, limes.catalog.unit_of(ref), old, new, Reason.OVERRIDE, what=What.OVERRIDE)
            steps.append((Scope(place.domain_uuid, "", place.project_uuid), step))
    change_log.record_quotas(limes, steps)


def check_consistency(limes: Limes) -> None:
    """Brings everything into line. Running it again changes nothing more."""
    sync_catalog(limes, prune=True)
    _enforce_domain_constraints(limes)


@atomic
def _enforce_domain_constraints(limes: Limes) -> None:
    engine, ids = limes.engine, resource_ids(limes.engine)
    for domain in domains(engine):
        constraints = limes.constraints.domains.get(domain.name, {})
        wanted = {ref: each for ref, each in constraints.items() if ref in ids and not limes.catalog.autogrow(ref)}
        if not wanted:
            continue
        resources = sorted(ids[ref] for ref in wanted)
        quotas.lock_domain_quotas(engine, domain.id, resources)
        present = quotas.domain_quotas_by_resource(engine, resources)
        changes = []
        for ref, constraint in wanted.items():
            old = present[domain.id, ids[ref]]
            new = constraint.apply_to(old)
            if new == old:
                continue
            changes.append((ref, old, new, constraint))
            text = f"AUDIT: domain {domain.name}, resource {'/'.join(ref)}: quota {old} -> {new}"
            # after the commit: until then the transaction may be rolled back or run again
            engine.after_commit(partial(log.warning, "%s, as its constraint demands", text))
        if changes:
            quotas.write_domain_quotas(engine, domain.id, {ids[ref]: new for ref, _, new, _ in changes})
            change_log.record_constrained(limes, scope_of(domain), changes)
