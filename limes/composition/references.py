"""What the configuration refers to by name: resources of services, above all. A name that nothing has is a slip."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from keystoneauth1.exceptions import ClientException

from limes.backends.loader import Backends
from limes.composition.distribution import distribution_warnings, override_warnings, setting_warnings
from limes.core.catalog import Catalog, Ref, ResourceDef
from limes.core.constraints import NO_CONSTRAINTS, ConstraintSet
from limes.core.lifetimes import followed_resources
from limes.core.overrides import NO_OVERRIDES, QuotaOverrides
from limes.errors import BackendError
from limes.settings import Settings
from limes.validation.problems import did_you_mean


@dataclass(frozen=True, slots=True)
class Names:
    """The services and resources that there are."""

    catalog: Catalog
    unclear: Collection[str] = ()
    """Services whose resources are not known, as their entries have problems of their own. No reference to one of them
    is called wrong."""

    def find(self, ref: Ref) -> ResourceDef | None:
        """Returns the resource of that name, or None."""
        return self.catalog.find(ref)

    def problem(self, ref: Ref, consequence: str = "") -> str | None:
        """Returns what is wrong with a reference, the `consequence`, and a hint at the nearest name; or None."""
        service_type, name = ref
        if service_type in self.unclear or self.catalog.find(ref) is not None:
            return None
        service = self.catalog.services.get(service_type)
        if service is None:
            known = {*self.catalog.services, *self.unclear}
            return f"there is no service {service_type!r}{consequence}{did_you_mean(service_type, known)}"
        hint = did_you_mean("/".join(ref), [f"{service_type}/{known}" for known in service.resources])
        return f"there is no resource {service_type}/{name}{consequence}{hint}"


def reference_warnings(
    settings: Settings,
    catalog: Catalog,
    backends: Backends,
    overrides: QuotaOverrides = NO_OVERRIDES,
    constraints: ConstraintSet = NO_CONSTRAINTS,
) -> list[str]:
    """Returns the references that name nothing, and that do not prevent a start: the settings have no effect. Also
    quota that is to grow by itself, and cannot."""
    names = Names(catalog)
    reported = _reported(settings, backends)
    return [
        *_unmatched(settings, names),
        *_capacitors(settings, names, reported),
        *distribution_warnings(settings, catalog, reported),
        *setting_warnings(settings, catalog, constraints),
        *override_warnings(overrides, catalog),
        *_lifetime_warnings(settings, catalog),
    ]


def _unmatched(settings: Settings, names: Names) -> Iterator[str]:
    """Regular expressions that are to match the whole of `service/resource`, and match none."""
    refs = ["/".join(ref) for ref in names.catalog.refs()]
    for key, patterns in (
        ("resource_behavior", [entry.resource for entry in settings.resource_behavior]),
        ("subresource_lifetimes.resources", [entry.resource for entry in settings.subresource_lifetimes.resources]),
        ("quota_distribution_configs", [entry.resource for entry in settings.quota_distribution_configs]),
        ("quota_requests.auto_approval", [entry.resource for entry in settings.quota_requests.auto_approval]),
    ):
        for index, pattern in enumerate(patterns):
            if not any(pattern.fullmatch(ref) for ref in refs):
                hint = did_you_mean(pattern.pattern, refs)
                text = f"{pattern.pattern!r} matches no resource, so this entry has no effect{hint}"
                yield f"{key}[{index}].resource: {text}"


def _reported(settings: Settings, backends: Backends) -> dict[str, list[Ref] | None]:
    """The resources of each capacitor. None if it has to be asked for them, and does not answer: the doctor says so."""
    reported: dict[str, list[Ref] | None] = {}
    for capacitor in settings.capacitors:
        try:
            reported[capacitor.id] = list(backends.capacity[capacitor.id].resources())
        except (BackendError, ClientException):
            reported[capacitor.id] = None
    return reported


def _capacitors(settings: Settings, names: Names, reported: Mapping[str, list[Ref] | None]) -> Iterator[str]:
    """Capacity that is dropped, as nothing of that name is configured; and capacity that two capacitors report."""
    reporters: dict[Ref, list[str]] = defaultdict(list)
    for index, capacitor in enumerate(settings.capacitors):
        path = f"capacitors[{index}] ({capacitor.id})"
        refs = reported[capacitor.id] or []
        for text in dict.fromkeys(names.problem(ref, ", so its capacity is not used") for ref in refs):
            if text is not None:
                yield f"{path}: {text}"
        for ref in refs:
            reporters[ref].append(capacitor.id)
    for ref, ids in reporters.items():
        if len(ids) > 1:
            yield f"capacitors: {' and '.join(ids)} report the capacity of {'/'.join(ref)}; the last report counts"


def _lifetime_warnings(settings: Settings, catalog: Catalog) -> Iterator[str]:
    """Yields what is followed in vain: resources whose plugins are not told to report subresources."""
    plugins = {service.service_type: service.type for service in settings.services}
    for ref in followed_resources(catalog, settings.subresource_lifetimes.resources):
        resource = catalog.find(ref)
        # backends of the plugin `liquid` do not say whether they report subresources
        if plugins.get(ref[0]) != "liquid" and resource is not None and not resource.billed_attributes:
            yield (
                f"subresource_lifetimes: {'/'.join(ref)} is followed, but its plugin names no attributes to bill"
                f" (are subresources switched on in the params of service {ref[0]!r}?)"
            )
