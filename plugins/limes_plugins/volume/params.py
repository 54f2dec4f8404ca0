"""The `params` of the plugin, and what a volume type's resources are called."""

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from limes.backends import NOT_EMPTY, Params
from limes_plugins.openstack.params import ConnectionParams, Text


def _once_each(names: tuple[str, ...]) -> tuple[str, ...]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"the volume type {twice[0]!r} is given more than once")
    return names


class VolumeParams(ConnectionParams):
    """Of a service. A configured `endpoint` ends in `/v3`, or `/v3/` and the id of the user's project."""

    area: Text = "storage"
    volume_types: Annotated[tuple[Text, ...], NOT_EMPTY, AfterValidator(_once_each)]
    """By Cinder's names. The resources of the first one have no suffix, and get what is of no known type."""
    with_volume_subresources: bool = False
    with_snapshot_subresources: bool = False
    max_age: float = Field(default=120, ge=0, le=3600)
    """For how many seconds the lists may be used once they are read; 0 reads the project's own ones each time."""
    page_size: int = Field(default=1000, ge=1)


class PoolTypeParams(Params):
    """Which pools are for volumes of a type."""

    volume_backend_name: Text
    """As the pools report it."""
    default: bool = False
    """Whether the resource is just `capacity`, because the type is the first one of the service."""


class CinderCapacityParams(ConnectionParams):
    """Of a capacitor."""

    service: Text = "volumev2"
    """The service type whose capacity this is."""
    volume_types: Annotated[dict[Text, PoolTypeParams], NOT_EMPTY]
    with_subcapacities: bool = False

    @model_validator(mode="after")
    def _at_most_one_default(self) -> "CinderCapacityParams":
        if sum(one.default for one in self.volume_types.values()) > 1:
            raise ValueError("volume_types: more than one is the default")
        return self


def resource_name(kind: str, volume_type: str, *, is_first: bool) -> str:
    """Such as `capacity` and, for other types than the first one, `capacity_ssd`."""
    return kind if is_first else f"{kind}_{volume_type}"
