"""Base classes for the `params` of plugins."""

from collections.abc import Sized
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator

from limes.core.catalog import ANY_AZ, ResourceDef
from limes.core.quota import UNLIMITED, BackendQuota, limited
from limes.core.units import MAX_AMOUNT, Unit

T = TypeVar("T", bound=Sized)


class Params(BaseModel):
    """Base class for the `params` of a plugin: frozen, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class NoParams(Params):
    """For plugins that take none."""


def _not_empty(value: T) -> T:
    if not value:
        raise ValueError("at least one is needed")
    return value


NOT_EMPTY = AfterValidator(_not_empty)
"""For lists and mappings: `Annotated[list[...], NOT_EMPTY]`. Unlike pydantic's `min_length`, it is silent if an entry
is wrong."""


def _resource_name(value: str) -> str:
    if not value or "/" in value or any(letter.isspace() for letter in value):
        raise ValueError("expected a name without slashes and blanks")
    return value


ResourceName = Annotated[str, AfterValidator(_resource_name)]
"""The name of a resource: it appears in URLs and in `service/resource` patterns."""

Amount = Annotated[int, Field(strict=True, ge=0), AfterValidator(lambda value: min(value, MAX_AMOUNT))]
"""A whole number from 0 in the resource's unit. What is larger than any amount is the largest one."""

AmountPerAZ = Annotated[
    dict[str, Amount],
    BeforeValidator(lambda value: value if isinstance(value, dict) else {ANY_AZ: value}),
    NOT_EMPTY,
]
"""Amounts by AZ. A mere number is an amount in AZ `any`."""


def _quota(value: Any) -> BackendQuota:
    if value == "unlimited" or value is UNLIMITED:
        return UNLIMITED
    if type(value) is not int or value < 0:
        raise ValueError("expected 'unlimited' or a whole number from 0")
    return limited(value)


QuotaValue = Annotated[BackendQuota, PlainValidator(_quota)]
"""A number, or `unlimited`, which is what a number is that is larger than any amount."""


class ResourceParams(Params):
    """How an operator describes one resource of a service."""

    unit: Unit = Unit.COUNT
    """`B`, `KiB`, `MiB`, `GiB`, `TiB`, `PiB` or `EiB`; without, the resource is counted."""
    category: str = ""
    contained_in: str = ""
    auto_approve_initial_quota: Amount = 0
    quota_at_least_usage: bool = False

    def definition(self, name: str, *, tracks_quota: bool = True, az_aware: bool = False) -> ResourceDef:
        """The resource as Limes knows it."""
        return ResourceDef(
            name,
            self.unit,
            self.category,
            self.contained_in,
            tracks_quota,
            self.auto_approve_initial_quota,
            self.quota_at_least_usage,
            az_aware,
        )
