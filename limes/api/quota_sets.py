"""Preset sizes in requests: what a name stands for."""

from collections.abc import Iterable, Mapping

from limes.actions.quota_changes import QuotaChange
from limes.api.bodies import ServiceBody, quota_changes
from limes.core.catalog import Ref
from limes.core.quota import QuotaSet
from limes.errors import Unprocessable


def changes_with_set(
    sets: Mapping[str, QuotaSet], name: str | None, services: Iterable[ServiceBody]
) -> tuple[list[QuotaChange], frozenset[Ref]]:
    """Returns the wanted quotas, and which of them come from the set of that name. Those that the request names itself
    win. Raises `Unprocessable` if there is no such set."""
    named = quota_changes(services)
    if name is None:
        return named, frozenset()
    found = sets.get(name)
    if found is None:
        known = f"the quota sets of this cloud are {', '.join(sets)}" if sets else "this cloud has none"
        raise Unprocessable(f"there is no quota set {name!r}: {known}")
    of_set = found.quotas.keys() - {change.ref for change in named}
    return [*(QuotaChange(ref, found.quotas[ref]) for ref in found.quotas if ref in of_set), *named], frozenset(of_set)
