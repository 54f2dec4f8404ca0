"""The `params` of the plugin."""

import re
from collections import Counter
from typing import Annotated, Any, Literal

import os_resource_classes
from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from limes import backends
from limes_plugins.openstack.params import ConnectionParams, Expression, KeystoneLimitParams, Text

_UNITS = {"MEMORY_MB": backends.Unit.MIB, "DISK_GB": backends.Unit.GIB}
"""The resource classes that are amounts of bytes, by their definition in os-resource-classes."""


def _trait(value: str) -> str:
    if not re.fullmatch(r"[A-Z0-9_]{1,255}", value):
        raise ValueError("expected the name of a trait, such as COMPUTE_NODE or CUSTOM_GOLD")
    return value


Trait = Annotated[str, AfterValidator(_trait)]


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _as_zone(value: Any) -> Any:
    return {"aggregates": value} if isinstance(value, str | list | tuple) else value


class ZoneParams(backends.Params):
    """What makes a provider part of an AZ: any of these. A mere UUID, or a list of them, are the aggregates."""

    aggregates: Annotated[tuple[Text, ...], BeforeValidator(_as_list)] = ()
    """UUIDs of aggregates that the provider is in."""
    traits: Annotated[tuple[Trait, ...], BeforeValidator(_as_list)] = ()
    """Traits that the provider has."""
    name_pattern: Annotated[Expression, Field(min_length=1)] | None = None
    """A regular expression that is looked for anywhere in the provider's name."""

    @model_validator(mode="after")
    def _something(self) -> "ZoneParams":
        if not (self.aggregates or self.traits or self.name_pattern):
            raise ValueError("at least one is needed: aggregates, traits or name_pattern")
        return self


class PlacementParams(ConnectionParams):
    """What the service and the capacitor have in common."""

    availability_zones: dict[str, Annotated[ZoneParams, BeforeValidator(_as_zone)]] = Field(default_factory=dict)
    """Which providers are in which AZ."""
    availability_zones_from_nova: ConnectionParams | None = None
    """How Nova is found, if its host aggregates say in which AZ a provider is. Without, Nova is not asked."""

    @field_validator("availability_zones")
    @classmethod
    def _in_one_zone(cls, value: dict[str, ZoneParams]) -> dict[str, ZoneParams]:
        for kind in ("aggregate", "trait"):
            counts = Counter(name for zone in value.values() for name in getattr(zone, f"{kind}s"))
            twice = [name for name, count in counts.items() if count > 1]
            if twice:
                raise ValueError(f"the {kind} {twice[0]} is given more than once")
        return value

    @property
    def knows_zones(self) -> bool:
        """Whether anything says in which AZ providers are."""
        return bool(self.availability_zones) or self.availability_zones_from_nova is not None


def check_zones(params: PlacementParams, context: backends.BackendContext) -> None:
    """Raises `ConfigError` if AZs are named that are not configured."""
    unknown = sorted(set(params.availability_zones) - set(context.availability_zones))
    if unknown:
        raise backends.ConfigError([f"availability_zones.{az}: is not one of the configured ones" for az in unknown])


def _resource_class(value: str) -> str:
    if not re.fullmatch(r"[A-Z0-9_]{1,255}", value):
        raise ValueError("expected the name of a resource class, such as VCPU or CUSTOM_GOLD")
    if value not in os_resource_classes.STANDARDS and not value.startswith("CUSTOM_"):
        import difflib  # rarely needed

        near = difflib.get_close_matches(value, os_resource_classes.STANDARDS, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"{value} is neither a standard resource class nor one that begins with CUSTOM_{hint}")
    return value


ResourceClass = Annotated[str, AfterValidator(_resource_class)]


class PlacementResource(backends.ResourceParams):
    """A resource and the resource class in which Placement counts it; a mere string is the class."""

    class_: ResourceClass = Field(alias="class")

    @model_validator(mode="before")
    @classmethod
    def _unit_of_the_class(cls, values: Any) -> Any:
        if isinstance(values, dict) and "unit" not in values and values.get("class") in _UNITS:
            return {**values, "unit": _UNITS[values["class"]]}
        return values

    @model_validator(mode="after")
    def _amounts_stay_what_they_are(self) -> "PlacementResource":
        expected = _UNITS.get(self.class_)
        if expected is not None and self.unit is not expected:
            raise ValueError(f"{self.class_} is counted in {expected.value}, so the unit must be {expected.value}")
        return self


Resource = Annotated[
    PlacementResource, BeforeValidator(lambda value: {"class": value} if isinstance(value, str) else value)
]


def _one_each(resources: dict[str, PlacementResource]) -> dict[str, PlacementResource]:
    twice = [class_ for class_, count in Counter(r.class_ for r in resources.values()).items() if count > 1]
    if twice:
        raise ValueError(f"the resource class {twice[0]} is given to more than one resource")
    return resources


Resources = Annotated[dict[backends.ResourceName, Resource], backends.NOT_EMPTY, AfterValidator(_one_each)]


class ConsumerTypeParams(backends.Params):
    """Whose usage counts. Consumers without a type have the type `unknown`."""

    include: tuple[Text, ...] | None = None
    """Only these. Without, all."""
    exclude: tuple[Text, ...] = ()
    """Not these, even if they are included; for instance MIGRATION."""

    @property
    def accepts_all(self) -> bool:
        """Whether types make no difference."""
        return self.include is None and not self.exclude

    def accepts(self, consumer_type: str) -> bool:
        """Returns whether usage of consumers of this type counts."""
        return consumer_type not in self.exclude and (self.include is None or consumer_type in self.include)


class QuotaParams(KeystoneLimitParams):
    """Where the backend quota lives."""

    store: Literal["placement", "keystone_limits", "none"] = "none"
    """`placement`: in the quota extension of our Placement. `keystone_limits`: in Keystone's unified limits. `none`:
    the resources track no quota."""


class ServiceParams(PlacementParams):
    """Of a service."""

    area: Text
    resources: Resources
    consumer_types: ConsumerTypeParams = ConsumerTypeParams()
    quota: QuotaParams = QuotaParams()
    read_allocations: bool = True
    """Whether a Placement without the extension for usage groups is asked for the allocations of all providers, to
    find out in which AZ a project uses something. Without, all of its usage is in AZ `any`."""
    requests_per_scrape: int = Field(default=2000, ge=10)
    """Maximum number of requests for allocations in one scrape. Usage that is not known by then is in `unknown`."""
    max_age: backends.SecondsOrZero = Field(default=120, le=3600)
    """For how long it may be used what is known of all providers, their AZs and their allocations."""
    with_subresources: bool = False
    """Whether to report each consumer."""

    @model_validator(mode="after")
    def _limits_of_known_resources(self) -> "ServiceParams":
        unknown = sorted(set(self.quota.limit_names) - set(self.resources))
        if unknown:
            raise ValueError(f"quota.limit_names: there is no resource {unknown[0]!r}")
        return self


class TraitParams(backends.Params):
    """Which providers count. A provider has its own traits and those of its root provider."""

    required: tuple[Trait, ...] = ()
    """All of these."""
    forbidden: tuple[Trait, ...] = ()
    """None of these."""


class CapacityParams(PlacementParams):
    """Of a capacitor."""

    service: Text
    """The service type whose capacity this is."""
    resources: Annotated[dict[backends.ResourceName, ResourceClass], backends.NOT_EMPTY]
    traits: TraitParams = TraitParams()
    aggregates: tuple[Text, ...] = ()
    """Only providers in one of these aggregates (UUIDs), themselves or by their root provider. Without, all."""
    subcapacities: bool = True
    """Whether to report each provider with its traits and usage. It takes two more requests for each provider."""
