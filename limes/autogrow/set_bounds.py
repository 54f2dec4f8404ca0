"""Sets how far quota may grow by itself, of one project or of all projects that a domain has now; and what a project is
granted of it.

Invariants: all that a request asks for is written and recorded, or nothing; and what it has changed is computed again
afterwards, as the resources are marked as due in the same transaction. What is granted never takes more capacity than
other projects leave that need it or were granted it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from limes.app.context import Limes
from limes.audit.events import QuotaStep, What
from limes.autogrow import advice, compute, queries, rules
from limes.catalog.catalog import Ref
from limes.catalog.queries import lock_resources, resource_ids
from limes.commitments.commitment import Status
from limes.db.transactions import atomic
from limes.kernel.units import UnitError
from limes.projects.queries import ProjectRow, projects_of_domain, these
from limes.projects.scope import Place, find_domain, find_project, not_ready
from limes.quota import change_log
from limes.quota.change_log import scope_of
from limes.quota.changes import QuotaOutcome, project_tag, read_amount, without_quota
from limes.quota.hierarchy import QUOTA_IS_SET, Bounding, Refusal, conflict, invalid_value
from limes.quota.queries import SetByPeople, lock_project
from limes.quota.rules import IfMatch
from limes.usage.project_figures import project_azs
from limes.usage.project_sums import Among, committed_sums


class WantedBound(Struct, frozen=True):
    """A wanted bound: an amount or None for `What.MAX_QUOTA` and `What.MIN_QUOTA`, 1 or 0 for
    `What.FORBID_AUTOGROWTH`."""

    ref: Ref
    value: int | None
    unit: str | None = None
    """The name of the amount's unit; None means the resource's own."""


class _Targets(Struct, frozen=True):
    """Whose bounds are to be set."""

    domain_id: int
    projects: Mapping[int, ProjectRow]
    """By id."""
    is_domain: bool

    @property
    def ids(self) -> list[int] | None:
        """None for all of the domain."""
        return None if self.is_domain else list(self.projects)


class _Update(Struct, frozen=True):
    what: What
    wanted: Mapping[Ref, int | None]
    ids: Mapping[Ref, int]
    """Of the resources that are wanted."""
    refusals: Mapping[Ref, Refusal]

    @property
    def limits(self) -> dict[Ref, int]:
        """How far quota may grow from now on."""
        wanted = self.wanted if self.what is What.MAX_QUOTA else {}
        return {ref: value for ref, value in wanted.items() if value is not None}


@atomic
def set_project_bounds(
    limes: Limes, place: Place, what: What, bounds: Sequence[WantedBound], condition: IfMatch | None = None
) -> QuotaOutcome:
    """Sets bounds of a project, or says why not. Raises `NotFound`, `NotReady` for what was not scraped yet, and
    `PreconditionFailed`."""
    engine, project = limes.engine, find_project(limes.engine, place.domain_uuid, place.project_uuid)
    update, targets = _read(limes, what, bounds), _only(project)
    if not update.refusals:
        known = {resource for _, resource in _present(limes, targets, update, lock=False)}
        if missing := [ref for ref, id_ in update.ids.items() if id_ not in known]:
            raise not_ready(engine, project.id, missing)
    if condition is not None:
        lock_project(engine, project.id, lock=True)
        lock_resources(engine, sorted(update.ids.values()))
        condition.check(project_tag(engine, limes.catalog, project.id, lock=True))
    if refusals := update.refusals or _refuse_grants(limes, project, update):
        change_log.record_refused_bounds(limes, scope_of(project), what, refusals)
        return QuotaOutcome(refusals)
    _set(limes, targets, update)
    return QuotaOutcome(warnings=_warn_project(limes, project, targets, update))


@atomic
def set_domain_bounds(limes: Limes, place: Place, what: What, bounds: Sequence[WantedBound]) -> QuotaOutcome:
    """Sets the same bounds for each project of a domain, or says why not. Raises `NotFound`."""
    domain, update = find_domain(limes.engine, place.domain_uuid), _read(limes, what, bounds)
    if update.refusals:
        change_log.record_refused_bounds(limes, scope_of(domain), what, update.refusals)
        return QuotaOutcome(update.refusals)
    projects = {project.id: project for project in projects_of_domain(limes.engine, domain)}
    targets = _Targets(domain.id, projects, is_domain=True)
    known = Counter(resource for _, resource in _set(limes, targets, update))
    return QuotaOutcome(warnings=_warn_domain(limes, targets, update, known))


def refuse_bounds(
    limes: Limes, project: ProjectRow, what: What, bounds: Iterable[WantedBound]
) -> Mapping[Ref, Refusal]:
    """Returns why these bounds cannot be set, if so. To be called inside a transaction, which locks the resources."""
    update = _read(limes, what, bounds)
    return update.refusals or _refuse_grants(limes, project, update)


def _only(project: ProjectRow) -> _Targets:
    return _Targets(project.domain_id, {project.id: project}, is_domain=False)


def _read(limes: Limes, what: What, bounds: Iterable[WantedBound]) -> _Update:
    catalog = limes.catalog
    wanted: dict[Ref, int | None] = {}
    refusals: dict[Ref, Refusal] = {}
    for bound in bounds:
        refusal = without_quota(catalog, bound.ref)
        if refusal is None and not catalog.autogrow(bound.ref):
            refusal = QUOTA_IS_SET
        if refusal is not None:
            refusals[bound.ref] = refusal
        elif what is What.FORBID_AUTOGROWTH or bound.value is None:
            wanted[bound.ref] = bound.value
        else:
            try:
                wanted[bound.ref] = read_amount(catalog, bound.ref, bound.value, bound.unit)
            except UnitError as error:
                refusals[bound.ref] = invalid_value(str(error))
    all_ids = resource_ids(limes.engine) if wanted else {}
    return _Update(what, wanted, {ref: all_ids[ref] for ref in wanted}, refusals)


def _refuse_grants(limes: Limes, project: ProjectRow, update: _Update) -> dict[Ref, Refusal]:
    """Returns what cannot be granted, because others need the capacity or a constraint says so. Locks the resources, so
    that it stays as it is until the transaction ends."""
    if update.what is not What.MIN_QUOTA:
        return {}
    lock_resources(limes.engine, sorted(update.ids.values()))
    present = _present(limes, _only(project), update, lock=False)
    refusals = {}
    for ref, id_ in update.ids.items():
        wanted, rule = update.wanted[ref], compute.autogrow_rule(limes.catalog, ref)
        has = present[project.id, id_].min_quota if (project.id, id_) in present else 0
        if wanted is None or wanted <= (has or 0) or rule is None:
            continue  # which takes nothing from anybody
        constraint = limes.constraints.for_project(ref, project.domain_name, project.name)
        if constraint is not None and constraint.maximum is not None and wanted > constraint.maximum:
            text = f"it may not exceed the operator's constraint: {constraint.render(limes.catalog.unit_of(ref))}"
            refusals[ref] = conflict(text, rule=Bounding.CONSTRAINT)
            continue
        computed = compute.compute_quota(limes, ref, id_, rule, limes.now())
        others = [demand for demand in computed.demands.values() if demand.id != project.id]
        largest = advice.largest_minimum(computed.capacity, others)
        if wanted > largest:
            text, unit = "the rest of the capacity is needed by other projects, or was granted to them", computed.unit
            refusals[ref] = conflict(text, maximum=largest, unit=unit, rule=Bounding.CAPACITY)
    return refusals


_Bounds = dict[tuple[int, int], SetByPeople]
"""By project and resource id."""


def _present(limes: Limes, targets: _Targets, update: _Update, *, lock: bool) -> _Bounds:
    if not update.ids:
        return {}
    ids = sorted(update.ids.values())
    rows = queries.autogrow_bounds(limes.engine, ids, targets.domain_id, targets.ids, lock=lock)
    return {key: row for key, row in rows.items() if key[0] in targets.projects}


def _set(limes: Limes, targets: _Targets, update: _Update) -> _Bounds:
    """Writes and records what differs. Returns the bounds before. A request that changes nothing waits for
    no other."""
    wanted = {id_: update.wanted[ref] for ref, id_ in update.ids.items()}

    def differing(rows: _Bounds) -> _Bounds:
        return {key: row for key, row in rows.items() if row.value_of(update.what) != wanted[key[1]]}

    rows = _present(limes, targets, update, lock=False)
    if not differing(rows):
        return rows
    lock_resources(limes.engine, sorted(wanted))
    rows = _present(limes, targets, update, lock=True)
    if changed := differing(rows):
        projects = sorted({project for project, _ in changed})
        resources = sorted({resource for _, resource in changed})
        queries.write_autogrow_bounds(limes.engine, projects, update.what, [(id_, wanted[id_]) for id_ in resources])
        queries.mark_due(limes.engine, resources, limes.now())
        _record(limes, targets, update, changed)
    return rows


def _record(limes: Limes, targets: _Targets, update: _Update, changed: _Bounds) -> None:
    refs = {id_: ref for ref, id_ in update.ids.items()}
    detail = "for all projects of the domain" if targets.is_domain else ""
    steps = []
    for (project, resource), row in changed.items():
        ref = refs[resource]
        old, new = row.value_of(update.what), update.wanted[ref]
        step = QuotaStep(ref, limes.catalog.unit_of(ref), old, new, detail=detail, what=update.what)
        steps.append((scope_of(targets.projects[project]), step))
    change_log.record_bounds(limes, steps)


# -- warnings for users who set bounds ---------------------------------------------------------------------------------


def _warn_project(limes: Limes, project: ProjectRow, targets: _Targets, update: _Update) -> list[str]:
    needed, overrides, limits = _needed(limes, targets, update), limes.overrides(), update.limits
    texts = []
    for ref, id_ in update.ids.items():
        name, unit = "/".join(ref), limes.catalog.unit_of(ref)
        pinned = overrides.for_project(ref, project.domain_name, project.name)
        limit, amount = limits.get(ref), needed.get((project.id, id_), 0)
        if pinned is not None:
            texts.append(f"{name}: the operator has set this quota to {unit.render(pinned)}, whatever its bounds")
        elif limit is not None and amount > limit:
            texts.append(
                f"{name}: usage and commitments need {unit.render(amount)};"
                f" the limit of {unit.render(limit)} takes effect when they need no more than that"
            )
    return sorted(texts)


def _warn_domain(limes: Limes, targets: _Targets, update: _Update, known: Mapping[int, int]) -> list[str]:
    """`known` is how many of the projects have each resource (id)."""
    needed, overrides, limits = _needed(limes, targets, update), limes.overrides(), update.limits
    texts = []
    for ref, id_ in update.ids.items():
        name = "/".join(ref)
        if missing := len(targets.projects) - known.get(id_, 0):
            texts.append(f"{name}: nothing is set for {_count(missing)} whose usage is not known yet")
        rows = targets.projects.values()
        pinned = {row.id for row in rows if overrides.for_project(ref, row.domain_name, row.name) is not None}
        if pinned:
            texts.append(f"{name}: the operator has set the quota of {_count(len(pinned))}, whatever its bounds")
        limit = limits.get(ref)
        beyond = [key for key, amount in needed.items() if limit is not None and key[1] == id_ and amount > limit]
        if limit is not None and (count := sum(project not in pinned for project, _ in beyond)):
            amount = limes.catalog.unit_of(ref).render(limit)
            texts.append(
                f"{name}: usage and commitments need more than {amount} in {_count(count)};"
                " there the limit takes effect when they need no more than that"
            )
    return texts


def _needed(limes: Limes, targets: _Targets, update: _Update) -> dict[tuple[int, int], int]:
    """Returns what usage and confirmed commitments need of what is limited, by project and resource id. Two queries,
    whatever the number of projects."""
    ids = {ref: update.ids[ref] for ref in update.limits}
    if not ids:
        return {}
    resources: Sequence[int] = sorted(ids.values())
    usage: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
    for row in project_azs(limes.engine, these(resources), targets.domain_id, targets.ids):
        usage[row.project_id, row.resource_id][row.az] = row.usage
    committed: dict[tuple[int, int], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    among = Among("domain", [targets.domain_id]) if targets.ids is None else Among("project", targets.ids)
    sums = committed_sums(limes.engine, resources, limes.now(), "project", among)
    for (project, resource, az, status, _), amount in sums.items():
        if status == Status.CONFIRMED:
            committed[project, resource][az] += int(amount)
    pooled = {id_ for ref, id_ in ids.items() if not limes.catalog.behavior(ref).commitment_is_az_aware}
    demands = {
        key: rules.demand_by_az(usage.get(key, {}), {}, committed.get(key, {}), is_pooled=key[1] in pooled)
        for key in usage.keys() | committed.keys()
    }
    return {key: sum(demand.needed for demand in by_az.values()) for key, by_az in demands.items()}


def _count(projects: int) -> str:
    return "1 project" if projects == 1 else f"{projects} projects"
