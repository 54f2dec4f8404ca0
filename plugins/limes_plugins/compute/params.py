"""The `params` of the plugin."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from limes.backends import Amount, Params, ResourceName, SecondsOrZero
from limes_plugins.openstack.params import ConnectionParams, Expression, KeystoneLimitParams, Text

LIMIT_NAMES = {"cores": "class:VCPU", "instances": "servers", "ram": "class:MEMORY_MB"}
"""Nova's names in Keystone's unified limits, by resource. It has limits for server groups, too, but looks only at their
registered defaults (seen in release 34.0.0), so no project can have one of its own."""


def flavor_resource(name: str) -> str:
    """Returns the resource that counts the instances of a flavor."""
    return f"instances_{name}"


class FlavorParams(Params):
    """A flavor whose instances are counted by themselves."""

    category: str = "per_flavor"
    aliases: tuple[Text, ...] = ()
    """Other names of the flavor in Nova, such as its former ones."""


class HypervisorTypeRule(Params):
    """The flavors whose servers run on hypervisors of some type."""

    match: Annotated[str, Field(pattern=r"^(flavor-name|extra-spec:.+)$")]
    """What is looked at: `flavor-name`, or `extra-spec:KEY`, the value of an extra spec of the flavor."""
    pattern: Expression
    type: Text
    """What reports show as the server's `hypervisor`."""

    def matches(self, flavor: Mapping[str, Any]) -> bool:
        """Returns whether the rule holds for the flavor of a server. An extra spec that is missing matches nothing."""
        key = self.match.removeprefix("extra-spec:")
        value = flavor.get("original_name") if key == self.match else (flavor.get("extra_specs") or {}).get(key)
        return isinstance(value, str) and re.search(self.pattern, value) is not None


class QuotaParams(KeystoneLimitParams):
    """Where the backend quota lives."""

    store: Literal["quota_sets", "keystone_limits"] = "quota_sets"
    """`quota_sets`: in Nova. `keystone_limits`: in Keystone's unified limits, for a Nova with the
    UnifiedLimitsDriver."""


class ComputeParams(ConnectionParams):
    """Of a service. A configured `endpoint` ends in `/v2.1`."""

    area: Text = "compute"
    quota: QuotaParams = QuotaParams()
    flavors: dict[ResourceName, FlavorParams] = Field(default_factory=dict)
    """Flavors by name; each becomes a resource `instances_<name>`."""
    bigvm_min_memory: Annotated[Amount, Field(gt=0)] | None = None
    """With how many MiB of RAM an instance is a big one; splits cores, instances and ram into `..._regular` and
    `..._bigvm`. Without, they are not split."""
    with_subresources: bool = False
    """Whether to report each instance with its attributes."""
    hypervisor_type_rules: tuple[HypervisorTypeRule, ...] = ()
    """The first that matches says what a server's `hypervisor` is; without any rule, servers have none."""
    images: ConnectionParams = ConnectionParams()
    """How Glance is found, which is asked for the operating systems of images where Nova does not tell them."""
    list_servers: Literal["together", "by_project"] = "together"
    """`together`: the servers of all projects in one list, kept for `max_age`. `by_project`: one list for each
    scrape."""
    max_age: SecondsOrZero = Field(default=120, le=3600)
    """For how long lists of all projects may be used once they are read; 0 reads them again for each project."""
    page_size: int = Field(default=1000, ge=2)

    @field_validator("flavors")
    @classmethod
    def _one_resource_each(cls, value: dict[str, FlavorParams]) -> dict[str, FlavorParams]:
        counts = Counter(alias for name, flavor in value.items() for alias in {name, *flavor.aliases})
        twice = [name for name, count in counts.items() if count > 1]
        if twice:
            raise ValueError(f"the flavor {twice[0]} is given to more than one resource")
        return value

    @model_validator(mode="after")
    def _limits_of_known_resources(self) -> "ComputeParams":
        known = {*LIMIT_NAMES, *map(flavor_resource, self.flavors)}
        unknown = sorted(set(self.quota.limit_names) - known)
        if unknown:
            raise ValueError(f"quota.limit_names: there is no resource {unknown[0]!r}")
        return self
