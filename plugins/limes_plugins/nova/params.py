"""The `params` of the plugin. Names and meanings are those of the original's capacitor, where it has them."""

import re
from collections.abc import Collection, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from limes.backends import Params, ResourceName
from limes_plugins.openstack.params import ConnectionParams, Expression, Text


def _trait(value: str) -> str:
    if not re.fullmatch(r"!?[A-Z0-9_]{1,255}", value):
        raise ValueError("expected the name of a trait, such as COMPUTE_NODE, or one that must be absent: !CUSTOM_GOLD")
    return value


class HypervisorSelection(Params):
    """Which hypervisors count."""

    aggregate_name_pattern: Expression
    """They have to be in an aggregate with such a name, and not in two of them."""
    hypervisor_type_pattern: Expression = ""
    required_traits: tuple[Annotated[str, AfterValidator(_trait)], ...] = ()
    """Traits that their resource providers must have, or, with a leading `!`, must not have."""

    def has_type(self, hypervisor_type: str) -> bool:
        """Returns whether hypervisors of this type count."""
        return re.search(self.hypervisor_type_pattern, hypervisor_type) is not None

    def has_name(self, aggregate: str) -> bool:
        """Returns whether hypervisors in the aggregate of this name count."""
        return re.search(self.aggregate_name_pattern, aggregate) is not None

    def accepts(self, traits: Collection[str]) -> bool:
        """Returns whether hypervisors with these traits count."""
        return all((trait.lstrip("!") in traits) is not trait.startswith("!") for trait in self.required_traits)


class FlavorSelection(Params):
    """Among which flavors the largest disk is looked for."""

    required_extra_specs: dict[str, str] = Field(default_factory=dict)
    excluded_extra_specs: dict[str, str] = Field(default_factory=dict)

    def accepts(self, extra_specs: Mapping[str, Any]) -> bool:
        """Returns whether a flavor has all of the required ones, and none of the excluded ones."""
        return all(extra_specs.get(key) == value for key, value in self.required_extra_specs.items()) and not any(
            extra_specs.get(key) == value for key, value in self.excluded_extra_specs.items()
        )


class PackedFlavorParams(Params):
    """A flavor whose capacity is counted by itself."""

    aliases: tuple[Text, ...] = ()
    """Other names of the flavor in Nova. The first that Nova has, from the flavor's own name on, says what it takes."""


class NovaParams(ConnectionParams):
    """Of a capacitor. A configured `endpoint` is Nova's, and ends in `/v2.1`."""

    placement: ConnectionParams = ConnectionParams()
    """How Placement is found."""
    service: Text = "compute"
    """The service type whose capacity this is."""
    pooled_cores_resource: ResourceName = "cores"
    pooled_instances_resource: ResourceName = "instances"
    pooled_ram_resource: ResourceName = "ram"
    """Names of the resources."""
    hypervisor_selection: HypervisorSelection
    flavor_selection: FlavorSelection = FlavorSelection()
    flavors: dict[ResourceName, PackedFlavorParams] = Field(default_factory=dict)
    """Flavors by name whose servers are counted by themselves, as in the plugin `compute`; each has the resource
    `instances_<name>`. How many fit depends on the demand."""
    max_instances_per_aggregate: Annotated[int, Field(gt=0)] = 10_000
    with_subcapacities: bool = False
    """Whether to report each hypervisor. It takes one more request for each."""

    @model_validator(mode="after")
    def _one_name_each(self) -> "NovaParams":
        names = {self.pooled_cores_resource, self.pooled_instances_resource, self.pooled_ram_resource}
        if len(names) != 3:
            raise ValueError("the three pooled_..._resource need different names")
        return self
