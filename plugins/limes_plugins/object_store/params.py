"""The `params` of the plugin."""

from typing import Annotated

from pydantic import Field

from limes.backends import Unit
from limes_plugins.openstack.params import ConnectionParams, Text


class ObjectStoreParams(ConnectionParams):
    """Of a service. A configured `endpoint` is Swift's without the account, such as `https://swift.example/v1`."""

    area: Text = "storage"
    unit: Unit = Unit.BYTES
    """Of the resource `capacity`. Swift counts bytes: usage is rounded up to the unit, and the quota that Swift has is
    rounded down."""
    account_prefix: str = "AUTH_"
    """What comes before the project's id in the name of its account: `reseller_prefix` of Swift's keystoneauth."""
    physical_factors: dict[Text, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    """How many bytes on disks one stored byte takes, by storage policy: the number of replicas, or (k + m) / k with
    erasure codes. With it the physical usage is reported; then all policies in use have to be here."""
