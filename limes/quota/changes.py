"""Changes of quotas: what is wanted, and what became of it."""

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from limes.catalog.catalog import Catalog, Ref
from limes.db.engine import Engine
from limes.kernel.units import MAX_AMOUNT, UnitError, convert
from limes.quota import hierarchy, queries, rules
from limes.quota.temporary import ALWAYS, Step, TemporaryQuota, Term


class QuotaChange(Struct, frozen=True):
    """A wanted quota. `unit` is the name of the unit of the amount; None means the resource's own."""

    ref: Ref
    amount: int
    unit: str | None = None
    term: Term = ALWAYS
    """For how long it is wanted."""


ALL_PERMISSIONS = rules.Permissions(can_raise=True, can_raise_lowpriv=True, can_lower=True, can_lower_lowpriv=True)
"""Those of Limes itself, and of a decision that was allowed before."""


class QuotaUpdate(Struct, frozen=True):
    """Wanted quotas of a project or domain, in the resources' units."""

    wanted: Mapping[Ref, int]
    refusals: Mapping[Ref, hierarchy.Refusal]
    """What is wrong with the ones that could not be read."""
    permissions: Mapping[Ref, rules.Permissions]
    """What the caller may do to the wanted ones, at least."""
    only_raises: bool = False
    """Whether quotas that are higher already stay as they are."""
    terms: Mapping[Ref, Term] = field(default_factory=dict)
    """For how long they are wanted, where that was said."""
    steps: Mapping[Ref, Step] | None = None
    """What is due of temporary quotas, if that is what it is about."""


class ChangedQuota(Struct, frozen=True):
    """A quota that was changed, in the resource's unit."""

    ref: Ref
    old: int
    new: int
    detail: str = ""
    """More about it, for the history."""


class EndingQuota(Struct, frozen=True):
    """A quota that ends by itself, or is planned, with what it is from now on."""

    temporary: TemporaryQuota
    present: int

    @property
    def gives_back(self) -> int:
        """What its end takes away, if usage and commitments allow that."""
        before, quota = self.temporary.before, self.temporary.quota
        return max(0, quota - self.present if before is None else self.present - before)


class QuotaOutcome(Struct, frozen=True):
    """Either nothing is refused, and `changed` lists what was (in a dry run: would be) changed, or nothing changed."""

    refusals: Mapping[Ref, hierarchy.Refusal] = field(default_factory=dict)
    changed: Sequence[ChangedQuota] = ()
    backend_errors: Sequence[str] = ()
    """Why pushes have failed so far. The quotas are accepted all the same."""
    attempted: Sequence[ChangedQuota] = ()
    """What would have changed if nothing had been refused."""
    repaired: Sequence[str] = ()
    """Services whose quota stays the same, but is written again because the backends enforce another one."""
    warnings: Sequence[str] = ()
    """About quotas that are acceptable all the same."""
    noted: Sequence[ChangedQuota] = ()
    """Quotas that stay the same for now, and what is new about their ends."""
    ending: Mapping[Ref, EndingQuota] = field(default_factory=dict)
    """Those of the update's quotas that end by themselves, or are planned."""
    replaced: Mapping[Ref, TemporaryQuota | None] = field(default_factory=dict)
    """What is to be stored of them; None where nothing ends any more."""

    @property
    def reasons(self) -> str:
        """Why it was refused, in one line."""
        return "; ".join(f"{'/'.join(ref)}: {each.message}" for ref, each in sorted(self.refusals.items()))


def without_quota(catalog: Catalog, ref: Ref) -> hierarchy.Refusal | None:
    """Returns what is to be said of a resource that has no quota, or that does not exist; None for others."""
    resource = catalog.find(ref)
    if resource is None:
        return hierarchy.NO_SUCH_RESOURCE if ref[0] in catalog.services else hierarchy.NO_SUCH_SERVICE
    return None if resource.tracks_quota else hierarchy.NO_QUOTA


def read_amount(catalog: Catalog, ref: Ref, amount: int, unit_name: str | None) -> int:
    """Returns the amount in the unit of a configured resource, where it is in the unit of that name (None: the
    resource's own). Raises `UnitError`."""
    unit = catalog.unit_of(ref)
    if unit_name is not None:
        return convert(amount, unit_name, unit)
    if amount > MAX_AMOUNT:
        raise UnitError(f"value of {unit.render(amount)} is too large: the maximum is {unit.render(MAX_AMOUNT)}")
    return amount


def is_set_by_people(catalog: Catalog, ref: Ref) -> bool:
    return catalog.tracks_quota(ref) and not catalog.autogrow(ref)


def domain_tag(engine: Engine, catalog: Catalog, domain_id: int, *, lock: bool = False) -> str:
    """Returns the tag of a domain. With `lock`, what it stands for does not change until the transaction ends. Take it
    before other locks on rows of `domain_resources`: it locks all of them, in the order of resource ids."""
    return tag_of_domain(catalog, queries.domain_quotas_by_name(engine, domain_id, lock=lock))


def tag_of_domain(catalog: Catalog, quotas: Mapping[Ref, int]) -> str:
    """Returns the tag of a domain, given all of its quotas. One that was never set is 0; quotas that users do not set
    do not count."""
    return rules.quota_tag({ref: quota for ref, quota in quotas.items() if quota and is_set_by_people(catalog, ref)})


def project_tag(engine: Engine, catalog: Catalog, project_id: int, *, lock: bool = False) -> str:
    """Returns the tag of a project. With `lock`, what it stands for does not change until the transaction ends."""
    bursting = queries.lock_project(engine, project_id, lock=lock)
    rows = queries.project_quotas_by_name(engine, project_id, lock=lock)
    quotas = {ref: row.quota for ref, row in rows.items()}
    bounds = {ref: row.bounds for ref, row in rows.items()}
    return tag_of_project(catalog, quotas, bounds, bursting)


def tag_of_project(
    catalog: Catalog, quotas: Mapping[Ref, int | None], bounds: Mapping[Ref, queries.Bounds], bursting: bool
) -> str:
    """Returns the tag of a project, given all of its quotas. One that is None or missing cannot be set yet. Of quota
    that grows by itself, only the `bounds` count, as they are what people set: how far it grows, what was granted, and
    whether it may not grow at all."""
    shown = {ref: quota for ref, quota in quotas.items() if quota is not None and is_set_by_people(catalog, ref)}
    said = {}
    for ref, (maximum, minimum, forbids) in bounds.items():
        is_bounded = maximum is not None or minimum is not None or forbids
        if is_bounded and catalog.tracks_quota(ref) and catalog.autogrow(ref):
            said[ref] = (maximum, minimum, bool(forbids))
    return rules.quota_tag(shown, bursting=bool(bursting), bounds=said)
