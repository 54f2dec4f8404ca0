"""Begins and ends temporary quotas when they are due, and tries again what could not be done.

Invariants: no quota is lowered below usage, below what is committed, or below what projects have got of a domain's; no
raise exceeds what the level above has. Each beginning and each end is one change of quota, however many collectors run
and whenever they are killed: a transaction takes the locks of the quotas first, looks under them whether it is still
due, and writes quota, history and the next due time together. The rows of the project's usage are locked as well, so
that a scrape comes before or after. The push job writes to backends. Each end is notified in its transaction.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from msgspec import structs

from limes.app.context import Limes
from limes.audit.events import Reason
from limes.catalog.catalog import Ref
from limes.catalog.queries import lock_resources, resource_ids
from limes.kernel.errors import LimesError, NotFound
from limes.notifications.outbox import announce
from limes.notifications.rules import TEMPORARY_QUOTA_ENDED
from limes.projects.queries import ProjectRow
from limes.projects.scope import Place, Target, find
from limes.quota import changes, hierarchy, set_quota, temporary_queries
from limes.quota import temporary_queries as queries
from limes.quota.queries import lock_domain_quotas, project_quotas_by_resource
from limes.quota.temporary import Step, TemporaryQuota, TemporaryState, take_step

log = logging.getLogger(__name__)

_PLANNED = TemporaryState.PLANNED.value


def settle_temporary_quotas(limes: Limes) -> int:
    """Does what is due: a transaction for each project and domain, with a fixed number of statements. Returns how
    many there were. Raises the last error after it has tried them all."""
    limes = structs.replace(limes, reason=Reason.TEMPORARY_QUOTA)
    now = limes.now()
    due = limes.engine.snapshot(lambda: queries.due(limes.engine, now, now + 2 * _retry(limes)))
    failed: LimesError | None = None
    groups = [list(rows) for _, rows in groupby(sorted(due, key=_order), key=_order)]
    for rows in groups:
        try:
            limes.engine.atomic(partial(_settle, limes, rows))
        except NotFound:
            log.info("temporary quota of a project or domain that is gone meanwhile")
        except LimesError as error:
            failed = error
            log.warning("temporary quotas of %s: %s", rows[0].project_uuid or rows[0].domain_uuid, error)
    if failed is not None:
        raise failed
    return len(groups)


def _retry(limes: Limes) -> float:
    return limes.settings.collector.temporary_quota_retry


def _order(row: temporary_queries.DueRow) -> tuple[int, int, int]:
    """What is given back comes first, from projects and then from domains; what begins gets it, domains first."""
    begins, is_project = row.state == _PLANNED, row.project_id is not None
    return 2 * begins + (begins == is_project), row.domain_id, row.project_id or 0


def _settle(limes: Limes, rows: Sequence[temporary_queries.DueRow]) -> None:
    """Settles what is due of one project, or of one domain itself."""
    engine, catalog, head, now, retry = limes.engine, limes.catalog, rows[0], limes.now(), _retry(limes)
    resources = sorted(row.resource_id for row in rows)
    lock_resources(engine, resources)
    lock_domain_quotas(engine, head.domain_id, resources)
    due = {
        id_: each
        for id_, each in queries.temporary_quotas(engine, head.domain_id, head.project_id).items()
        if id_ in resources and (each.due_at <= now or (each.problem != "" and each.due_at > now + 2 * retry))
    }
    refs = {ref: id_ for ref, id_ in resource_ids(engine).items() if id_ in due}
    settled: dict[Ref, int] = {}
    changed: dict[int, TemporaryQuota | None] = {}
    for ref, id_ in refs.items():
        if catalog.autogrow(ref):  # users do not set such quota any more
            changed[id_] = None
        elif catalog.tracks_quota(ref):
            settled[ref] = id_
        else:  # the resource may come back
            changed[id_] = structs.replace(due[id_], due_at=now + retry)
    queries.write_temporary_quotas(engine, head.domain_id, head.project_id, changed)
    if settled:
        target = find(engine, Place(head.domain_uuid, head.project_uuid or ""))
        _settle_quotas(limes, target, settled, {ref: due[id_] for ref, id_ in settled.items()})


def _settle_quotas(limes: Limes, target: Target, ids: Mapping[Ref, int], due: Mapping[Ref, TemporaryQuota]) -> None:
    if isinstance(target, ProjectRow):
        project_quotas_by_resource(limes.engine, target.id, sorted(ids.values()), lock=True)
    steps = {}
    for ref, figures in set_quota.read_figures(limes, target, ids)[0].items():
        rules = set_quota.rules_of(limes, target, ref, changes.ALL_PERMISSIONS)
        may_be = partial(hierarchy.judge, figures=figures, rules=rules)
        steps[ref] = take_step(due[ref], figures.quota, may_be, rules.unit, limes.now(), _retry(limes))
    wanted = {ref: step.quota for ref, step in steps.items()}
    update = changes.QuotaUpdate(wanted, {}, dict.fromkeys(wanted, changes.ALL_PERMISSIONS), steps=steps)
    outcome = set_quota.apply_update(limes, target, update)
    if not outcome.refusals:
        given_back = _given_back(limes, target, due, steps)
        announce(limes, TEMPORARY_QUOTA_ENDED, "Nothing has to be done.", limes.now(), given_back)


def _given_back(
    limes: Limes, target: Target, due: Mapping[Ref, TemporaryQuota], steps: Mapping[Ref, Step]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields what has ended and is back at what it was. Of what could not be given back yet, alerts tell."""
    named: dict[str, Any] = {"id": target.uuid, "name": target.name}
    place = {"domain": named}
    if isinstance(target, ProjectRow):
        place = {"domain": {"id": target.domain_uuid, "name": target.domain_name}, "project": named}
    for ref, step in sorted(steps.items()):
        temporary, unit = due[ref], limes.catalog.unit_of(ref).value
        if step.temporary is None and temporary.before is not None and step.quota == temporary.before:
            ended = {"quota": temporary.quota, "quota_before": temporary.before}
            ended |= {"from": int(temporary.starts_at), "until": int(temporary.until)}
            head = {**place, "service": ref[0], "resource": ref[1], **({"unit": unit} if unit else {})}
            yield target.uuid, {**head, "quota": temporary.before, "temporary_quota": ended}
