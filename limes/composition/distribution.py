"""What in the configuration keeps quota from being distributed as it says."""

from collections.abc import Iterator, Mapping, Sequence

from limes.core.catalog import Catalog, Ref
from limes.core.constraints import ConstraintSet, QuotaOverrides
from limes.settings import Settings

_SHOWN = 5


def distribution_warnings(
    settings: Settings, catalog: Catalog, reported: Mapping[str, Sequence[Ref] | None]
) -> Iterator[str]:
    """Yields what has no effect in `quota_distribution_configs`. What matches no resource at all is not repeated.

    `reported` has the resources of each capacitor; None where they are not known.
    """
    known = {ref for refs in reported.values() for ref in refs or ()}
    all_known = None not in reported.values()
    taken: set[Ref] = set()
    for index, entry in enumerate(settings.quota_distribution_configs):
        matched = {ref for ref in catalog.refs() if entry.resource.fullmatch("/".join(ref))}
        own = matched - taken
        taken |= matched
        path = f"quota_distribution_configs[{index}].resource: {entry.resource.pattern!r}"
        if matched and not own:
            yield f"{path} matches only what an entry before it matches, so this entry has no effect"
        if entry.autogrow is None or not own:
            continue
        with_quota = {ref for ref in own if catalog.tracks_quota(ref)}
        if not with_quota:
            yield f"{path} matches only resources without quota ({_list(own)}), so this entry has no effect"
        elif all_known and not entry.autogrow.allow_quota_overcommit and (without := with_quota - known):
            text = f"no capacitor reports the capacity of {_list(without)}"
            advice = "configure a capacitor, or allow_quota_overcommit"
            yield f"{path}: {text}, so quota does not grow beyond usage and commitments; {advice}"


def _list(refs: set[Ref]) -> str:
    names = sorted("/".join(ref) for ref in refs)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def setting_warnings(settings: Settings, catalog: Catalog, constraints: ConstraintSet) -> Iterator[str]:
    """Yields what is configured for quota that people set, of resources where nobody does."""
    limits = settings.lowpriv_raise.limits
    for level, by_service in (("projects", limits.projects), ("domains", limits.domains)):
        for service, by_name in by_service.items():
            for name in by_name:
                if catalog.autogrow((service, name)) is not None:
                    path = f"lowpriv_raise.limits.{level}.{service}.{name}"
                    yield f"{path}: {_grows((service, name))}, so this limit has no effect"
    for domain, by_ref in constraints.domains.items():
        for ref in by_ref:
            if catalog.autogrow(ref) is not None:
                path = f"constraints: domains.{domain}.{ref[0]}.{ref[1]}"
                yield f"{path}: {_grows(ref)}, so domains have none of their own to constrain"


def _grows(ref: Ref) -> str:
    return f"quota of {'/'.join(ref)} grows by itself (model autogrow)"


def override_warnings(overrides: QuotaOverrides, catalog: Catalog) -> Iterator[str]:
    """Yields the overrides of quota that people set."""
    for entry in overrides.items():
        if catalog.autogrow(entry.ref) is None:
            name = "/".join(entry.ref)
            text = f"people set quota of {name} (model hierarchical), so this override has no effect"
            yield f"quota overrides: {entry.domain}.{entry.project}.{entry.ref[0]}.{entry.ref[1]}: {text}"
