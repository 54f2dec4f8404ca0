"""The `params` that say in which AZ a provider is: the same for the service and the capacitor."""

import re
from collections import Counter
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from limes.backends import BackendContext, ConfigError, Params
from limes_plugins.openstack.params import ConnectionParams, Expression, Text


def _trait(value: str) -> str:
    if not re.fullmatch(r"[A-Z0-9_]{1,255}", value):
        raise ValueError("expected the name of a trait, such as COMPUTE_NODE or CUSTOM_GOLD")
    return value


Trait = Annotated[str, AfterValidator(_trait)]


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _as_zone(value: Any) -> Any:
    return {"aggregates": value} if isinstance(value, str | list | tuple) else value


class ZoneParams(Params):
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
        for what in ("aggregate", "trait"):
            counts = Counter(name for zone in value.values() for name in getattr(zone, f"{what}s"))
            twice = [name for name, count in counts.items() if count > 1]
            if twice:
                raise ValueError(f"the {what} {twice[0]} is given more than once")
        return value

    @property
    def knows_zones(self) -> bool:
        """Whether anything says in which AZ providers are."""
        return bool(self.availability_zones) or self.availability_zones_from_nova is not None


def check_zones(params: PlacementParams, context: BackendContext) -> None:
    """Raises `ConfigError` if AZs are named that are not configured."""
    unknown = sorted(set(params.availability_zones) - set(context.availability_zones))
    if unknown:
        raise ConfigError([f"availability_zones.{az}: is not one of the configured ones" for az in unknown])
