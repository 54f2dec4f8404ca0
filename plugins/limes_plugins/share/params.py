"""The `params` of the plugin, and how it speaks with Manila."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, field_validator

from limes.backends import NOT_EMPTY, BackendContext, Params, ProjectInfo, SecondsOrZero
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.params import ConnectionParams, Text


class MappingRule(Params):
    """Another share type for some projects."""

    name_pattern: str
    """A regular expression on the whole of `domain/project`, by names."""
    name: str
    """The share type in Manila. Empty: these projects must not use the type at all."""

    @field_validator("name_pattern")
    @classmethod
    def _is_a_pattern(cls, value: str) -> str:
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(f"is no regular expression: {error}") from None
        return value


class ShareType(Params):
    """One share type."""

    name: Text
    replication_enabled: bool = False
    """Whether quotas of replicas are set to those of shares."""
    mapping_rules: tuple[MappingRule, ...] = ()
    """The first one that matches counts; without any, Manila knows the type by the same name."""

    def in_manila(self, project: ProjectInfo) -> str:
        """Returns what Manila calls it for this project."""
        full_name = f"{project.domain.name}/{project.name}"
        for rule in self.mapping_rules:
            if re.fullmatch(rule.name_pattern, full_name):
                return rule.name
        return self.name

    @property
    def manila_names(self) -> frozenset[str]:
        """All that it may be called there."""
        return frozenset({self.name, *(rule.name for rule in self.mapping_rules)} - {""})


def _once_each(types: tuple[ShareType, ...]) -> tuple[ShareType, ...]:
    names = [share_type.name for share_type in types]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"the share type {twice[0]!r} is given more than once")
    return types


ShareTypes = Annotated[tuple[ShareType, ...], NOT_EMPTY, AfterValidator(_once_each)]
"""The resources of the first one have no suffix."""


class ShareParams(ConnectionParams):
    """Of a service. A configured `endpoint` ends in `/v2`."""

    area: Text = "storage"
    share_types: ShareTypes
    max_age: SecondsOrZero = Field(default=120, le=3600)
    """For how long the lists may be used once they are read; 0 reads them anew for each project."""
    page_size: int = Field(default=1000, ge=1)
    with_share_subresources: bool = False
    with_snapshot_subresources: bool = False


class ManilaCapacityParams(ConnectionParams):
    """Of a capacitor."""

    service: Text = "sharev2"
    """The service type whose capacity this is."""
    share_types: ShareTypes
    shares_per_pool: int = Field(ge=0)
    snapshots_per_share: int = Field(ge=0)
    capacity_balance: float = Field(ge=0)
    """How much larger the capacity for snapshots is than that for shares."""
    with_subcapacities: bool = False


def manila_client(params: ConnectionParams, context: BackendContext) -> ServiceClient:
    """Returns a client for Manila from 2.39 on, which is the first one with quotas of share types."""
    return ServiceClient(
        context, params, name="Manila", service_type="shared-file-system", major=2, microversion="2.65", at_least="2.39"
    )
