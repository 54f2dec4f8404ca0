"""The services and resources to manage, and the behavior of each resource. It never changes while a process runs.

Names: `ref` is a pair (service type, resource name). A `scope` is a domain's name, or `domain/project` by names, or
empty on the cluster level.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec import Struct
from pydantic import Field, field_validator, model_validator

from limes.kernel.units import Unit
from limes.kernel.validation.sections import Moment, Regex, ResourcePath, Section

ANY_AZ = "any"
"""The AZ of whatever is not bound to one."""
UNKNOWN_AZ = "unknown"
"""The AZ under which everything is kept that was reported for AZs that are not configured."""

Ref = tuple[str, str]


class ResourceDef(Struct, frozen=True):
    """A resource as its backend describes it."""

    name: str
    unit: Unit = Unit.COUNT
    category: str = ""
    contained_in: str = ""
    tracks_quota: bool = True
    auto_approve_initial_quota: int = 0
    """On the first scrape a backend quota of exactly this value becomes the project quota (behaviour of the
    original: for what backends create by themselves, such as a default security group). 0 switches it off."""
    quota_at_least_usage: bool = False
    """The backend refuses a quota below what is used. It gets the usage instead, until the usage has fallen."""
    az_aware: bool = False
    """Usage is reported by AZ, and not in `any`."""
    az_separated: bool = False
    """The backend enforces quota in each AZ."""
    billed_attributes: tuple[str, ...] = ()
    """The attributes of subresources that a price may depend on: if one changes, another period begins in the
    lifetime of a subresource. Empty where the backend reports no subresources, or does not say."""


class ServiceDef(Struct, frozen=True):
    """A service as its backend describes it."""

    type: str
    area: str
    resources: Mapping[str, ResourceDef]


class BehaviorRule(Section):
    """How the resources that match behave. If several entries match, each setting says which of them wins."""

    resource: Regex
    """Matches the whole of `service/resource`."""
    scope: Regex | None = None
    """Matches the whole of a domain's name or of `domain/project`. Ignored on the cluster's level."""
    max_burst_multiplier: float | None = Field(default=None, ge=0)
    """The most that these resources may burst. The smallest match wins."""
    overcommit_factor: float = Field(default=0, ge=0)
    """What raw capacity is multiplied by. 0: no overcommit. The last match wins."""
    scales_with: ResourcePath | None = None
    """`service/resource` whose quota this one should follow. A hint for user interfaces. The last match wins."""
    scaling_factor: float = Field(default=0, ge=0)
    """How much quota of this resource goes with one of the other. The last match wins."""
    min_nonzero_project_quota: int = Field(default=0, ge=0)
    """The smallest project quota that is not zero, in the resource's unit. The largest match wins."""
    commitment_durations: tuple[str, ...] = ()
    """The durations on offer, such as `1 year`. Empty: no commitments. Those of all matches are on offer."""
    commitment_is_az_aware: bool = False
    """Whether commitments are for one availability zone. They are if any match says so."""
    commitment_min_confirm_date: Moment | None = None
    """Commitments are not confirmed before this time, such as `2030-01-01T00:00:00Z`. The latest match wins."""
    annotations: dict[str, str] = Field(default_factory=dict)
    """Free-form hints for user interfaces, as names and texts. Numbers and booleans become texts, as in JSON. The last
    match wins for each name."""

    @field_validator("annotations", mode="before")
    @classmethod
    def _texts(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        for key, item in value.items():
            if not isinstance(item, str | int | float | bool | date):
                raise ValueError(f"annotation {key!r}: expected a scalar")
        return {str(key): cls._text(item) for key, item in value.items()}

    @staticmethod
    def _text(scalar: str | float | bool | date) -> str:
        if isinstance(scalar, bool):
            return "true" if scalar else "false"
        return scalar.isoformat() if isinstance(scalar, date) else str(scalar)

    @model_validator(mode="after")
    def _scaling_is_whole(self) -> "BehaviorRule":
        if (self.scales_with is None) != (self.scaling_factor == 0):
            raise ValueError("scales_with and scaling_factor must be given together")
        return self


class Behavior(Struct, frozen=True):
    """All entries that match a resource in a scope, merged."""

    burst_multiplier: float
    """0 where the resource cannot burst."""
    overcommit_factor: float
    """0 where capacity is not overcommitted."""
    scales_with: Ref | None
    scaling_factor: float
    min_nonzero_project_quota: int
    commitment_durations: tuple[str, ...]
    commitment_is_az_aware: bool
    commitment_min_confirm_date: float | None
    annotations: Mapping[str, str]


class AutogrowRule(Struct, frozen=True):
    """How quota follows usage and commitments (`limes.autogrow.rules`). Durations are in seconds."""

    growth_multiplier: float
    growth_minimum: int = 1
    project_base_quota: int = 0
    retention: float = 48 * 3600.0
    """How far back recent usage reaches."""
    overcommit: bool = False
    """Whether wishes are granted beyond the capacity."""
    overcommit_until: float = 0
    """The same as long as what is needed is less than this share of the capacity."""
    minor_change: float = 0
    """A change of a quota by less than this share of it ..."""
    minor_change_interval: float = 3600.0
    """... is written only when the last one is so long ago."""

    def may_overcommit(self, needed: int | Fraction, capacity: int) -> bool:
        """Returns whether wishes are granted beyond the capacity, if so much is needed."""
        return self.overcommit or needed < capacity * Fraction(str(self.overcommit_until))


class DistributionRule(Struct, frozen=True):
    """One entry of `quota_distribution_configs`. The pattern matches whole names; the first match wins."""

    resource: re.Pattern[str]
    model: str = "hierarchical"
    strict_domain_quota_limit: bool = False
    autogrow: AutogrowRule | None = None
    """Only, and always, of the model `autogrow`."""


_FIRST_AND_LAST = {ANY_AZ: 0, UNKNOWN_AZ: 2}
_DEFAULT_DISTRIBUTION = DistributionRule(re.compile(".*"))


class Catalog:
    """Services by type and resources by name, both in alphabetical order, as every report shows them."""

    def __init__(
        self,
        availability_zones: Sequence[str],
        services: Iterable[ServiceDef],
        *,
        burst_multiplier: float = 0,
        behaviors: Sequence[BehaviorRule] = (),
        distributions: Sequence[DistributionRule] = (),
    ) -> None:
        self.availability_zones = tuple(availability_zones)
        self.services: dict[str, ServiceDef] = {
            service.type: ServiceDef(service.type, service.area, dict(sorted(service.resources.items())))
            for service in sorted(services, key=lambda service: service.type)
        }
        self.burst_multiplier = burst_multiplier
        """The multiplier of bursting projects; 0 where the cluster has no bursting."""
        refs = self.refs()
        self._distributions = {
            ref: rule
            for rule in reversed(distributions)  # so that the first match wins
            for ref in refs
            if rule.resource.fullmatch("/".join(ref))
        }
        self._autogrow = {ref: rule.autogrow for ref, rule in self._distributions.items()}
        self._rules = {ref: [rule for rule in behaviors if rule.resource.fullmatch("/".join(ref))] for ref in refs}
        self._everywhere = {
            ref: self._merge(rules) for ref, rules in self._rules.items() if not any(rule.scope for rule in rules)
        }
        """Behaviour of the resources whose entries have no scope: the same for thousands of projects."""
        self._display_names = {ref: self._find_display_name(rules) for ref, rules in self._rules.items()}
        self._scoped = lru_cache(maxsize=20_000)(self._find_scoped)
        self._shared: dict[tuple[int, ...], Behavior] = {}
        """By the rules that match. Thousands of projects share a few of them; one for each would take some 25 MB."""

    def find(self, ref: Ref) -> ResourceDef | None:
        """Returns the resource that `ref` names, or None if there is no such service or resource."""
        service = self.services.get(ref[0])
        return service.resources.get(ref[1]) if service else None

    def tracks_quota(self, ref: Ref) -> bool:
        """Returns whether a resource has quota. One that left the configuration, whose rows are kept, has none."""
        resource = self.find(ref)
        return resource is not None and resource.tracks_quota

    def unit_of(self, ref: Ref) -> Unit:
        """Returns the resource's unit; that of counted ones for a resource that is not configured any more."""
        resource = self.find(ref)
        return resource.unit if resource else Unit.COUNT

    def refs(self) -> list[Ref]:
        """Returns all resources, in the order of reports."""
        return [(service.type, name) for service in self.services.values() for name in service.resources]

    def az_of(self, reported: str) -> str:
        """Returns the AZ under which to keep what a backend reports for `reported`."""
        return reported if reported in self.availability_zones or reported == ANY_AZ else UNKNOWN_AZ

    def az_order(self, az: str) -> tuple[int, str]:
        """Sort key: `any` first, then the AZs by name, `unknown` last."""
        return (_FIRST_AND_LAST.get(az, 1), az)

    def distribution(self, ref: Ref) -> DistributionRule:
        return self._distributions.get(ref, _DEFAULT_DISTRIBUTION)

    def autogrow(self, ref: Ref) -> AutogrowRule | None:
        """Returns how quota of this resource grows by itself; None if people set it."""
        return self._autogrow.get(ref)

    def behavior(self, ref: Ref, scope: str = "") -> Behavior:
        """Merges the entries that match (`BehaviorRule`). With an empty scope (cluster level) scopes are ignored."""
        return self._everywhere.get(ref) or self._scoped(ref, scope)

    def display_name(self, ref: Ref) -> str | None:
        """Returns what people call the resource, wherever they see it: the annotation `display_name` of the entries
        without a scope."""
        return self._display_names[ref]

    def behavior_everywhere(self, ref: Ref) -> Behavior | None:
        """Returns the behaviour of a resource in whatever scope; None if it depends on the scope."""
        return self._everywhere.get(ref)

    def _find_display_name(self, rules: Sequence[BehaviorRule]) -> str | None:
        names = [rule.annotations.get("display_name") for rule in rules if rule.scope is None]
        return next((name for name in reversed(names) if name), None)

    def _find_scoped(self, ref: Ref, scope: str) -> Behavior:
        rules = [rule for rule in self._rules[ref] if not scope or rule.scope is None or rule.scope.fullmatch(scope)]
        return self._shared.setdefault(tuple(map(id, rules)), self._merge(rules))

    def _merge(self, rules: Sequence[BehaviorRule]) -> Behavior:
        multipliers = [rule.max_burst_multiplier for rule in rules if rule.max_burst_multiplier is not None]
        scaling = next((rule for rule in reversed(rules) if rule.scales_with), None)
        dates = [rule.commitment_min_confirm_date for rule in rules if rule.commitment_min_confirm_date is not None]
        return Behavior(
            burst_multiplier=min([self.burst_multiplier, *multipliers]),
            overcommit_factor=next((rule.overcommit_factor for rule in reversed(rules) if rule.overcommit_factor), 0),
            scales_with=scaling.scales_with if scaling else None,
            scaling_factor=scaling.scaling_factor if scaling else 0,
            min_nonzero_project_quota=max((rule.min_nonzero_project_quota for rule in rules), default=0),
            commitment_durations=tuple(text for rule in rules for text in rule.commitment_durations),
            commitment_is_az_aware=any(rule.commitment_is_az_aware for rule in rules),
            commitment_min_confirm_date=max(dates, default=None),
            annotations={key: value for rule in rules for key, value in rule.annotations.items()},
        )


class Page(NamedTuple):
    """A part of a list: at most `limit` items whose UUIDs come after `marker`."""

    limit: int
    marker: str = ""


class Selection(Struct, frozen=True):
    """Services to show, each with its resources to show, in the order of the catalog."""

    services: Mapping[str, tuple[ServiceDef, tuple[ResourceDef, ...]]]

    @property
    def refs(self) -> list[Ref]:
        return [(service, resource.name) for service, (_, resources) in self.services.items() for resource in resources]

    def is_whole(self, catalog: Catalog) -> bool:
        return len(self.refs) == len(catalog.refs())


def select(
    catalog: Catalog,
    services: Collection[str] | None = None,
    areas: Collection[str] | None = None,
    resources: Collection[str] | None = None,
) -> Selection:
    """Selects from the catalog; None means "all". A name that does not exist selects nothing, and is no error
    (behaviour of the original)."""
    return Selection(
        {
            service.type: (
                service,
                tuple(
                    resource for name, resource in service.resources.items() if resources is None or name in resources
                ),
            )
            for service in catalog.services.values()
            if (services is None or service.type in services) and (areas is None or service.area in areas)
        }
    )
