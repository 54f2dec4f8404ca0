"""Rules of `quota_requests.auto_approval` that can never approve anything."""

from collections.abc import Iterator, Sequence

from limes.core.catalog import Catalog, Ref
from limes.core.quota_requests import AutoApprovalRule
from limes.core.units import Unit


def approval_warnings(rules: Sequence[AutoApprovalRule], catalog: Catalog) -> Iterator[str]:
    """Yields the rules without effect, and why. Those that match no resource at all are in `reference_warnings`."""
    for index, rule in enumerate(rules):
        matched = [ref for ref in catalog.refs() if rule.resource.fullmatch("/".join(ref))]
        with_quota = [ref for ref in matched if catalog.tracks_quota(ref)]
        path = f"quota_requests.auto_approval[{index}] ({rule.name})"
        if not matched:
            continue
        if not with_quota:
            yield f"{path}: {rule.resource.pattern!r} matches only resources without quota, so this rule has no effect"
        elif not any(rule.limit(catalog.unit_of(ref)) for ref in with_quota):
            yield f"{path}: up_to is 0, so this rule approves nothing"
        elif earlier := _at_least_as_wide(rules[:index], rule, with_quota, catalog):
            names = " and ".join(earlier)
            yield f"{path}: whatever it approves, {names} before it approves already, so this rule has no effect"


def _at_least_as_wide(
    rules: Sequence[AutoApprovalRule], later: AutoApprovalRule, refs: Sequence[Ref], catalog: Catalog
) -> list[str]:
    """Returns the names of rules that approve all that a later one does; none if there is something left for it."""
    names: list[str] = []
    for ref in refs:
        unit = catalog.unit_of(ref)
        name = next((rule.name for rule in rules if _covers(rule, later, ref, unit)), None)
        if name is None:
            return []
        names.append(name)
    return list(dict.fromkeys(names))


def _covers(rule: AutoApprovalRule, later: AutoApprovalRule, ref: Ref, unit: Unit) -> bool:
    """Returns whether a rule approves what a later one does, of a resource. One with `every` does not always."""
    return (
        rule.resource.fullmatch("/".join(ref)) is not None
        and (rule.scope is None or (later.scope is not None and rule.scope.pattern == later.scope.pattern))
        and rule.limit(unit) >= later.limit(unit)
        and _is_at_least(rule.up_to_percent, later.up_to_percent)
        and (rule.used_above is None or (later.used_above is not None and rule.used_above <= later.used_above))
        and rule.every is None
    )


def _is_at_least(bound: float | None, other: float | None) -> bool:
    return bound is None or (other is not None and bound >= other)
