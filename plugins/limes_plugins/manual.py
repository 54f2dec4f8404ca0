"""The capacitor `manual`: capacity as the operator wrote it down.

values:
  compute:
    cores: 4800                            # in AZ `any`
    ram: {az-one: 400000, az-two: 400000}  # by AZ
"""

from collections.abc import Collection
from typing import Annotated

from limes.backends import (
    ANY_AZ,
    NOT_EMPTY,
    AmountPerAZ,
    AZCapacity,
    BackendContext,
    CapacityBackend,
    CapacityReport,
    ConfigError,
    Offer,
    Params,
    Plugin,
    Ref,
    ResourceName,
)


class ManualParams(Params):
    """`values`: service type -> resource -> capacity in the resource's unit, or capacity by AZ."""

    values: Annotated[dict[str, dict[ResourceName, AmountPerAZ]], NOT_EMPTY]


class ManualCapacity(CapacityBackend):
    """Reports the configured values."""

    def __init__(self, params: ManualParams, context: BackendContext) -> None:
        known = {*context.availability_zones, ANY_AZ}
        problems = [
            f"values.{service}.{resource}.{az}: is not one of the configured availability_zones, nor 'any'"
            for service, resources in params.values.items()
            for resource, per_az in resources.items()
            for az in per_az
            if az not in known
        ]
        if problems:
            raise ConfigError(problems)
        self._values = params.values

    def report_capacity(self) -> CapacityReport:
        """Returns the configured values."""
        return CapacityReport(
            {
                service: {
                    resource: {az: AZCapacity(amount) for az, amount in per_az.items()}
                    for resource, per_az in resources.items()
                }
                for service, resources in self._values.items()
            }
        )

    def resources(self) -> Collection[Ref]:
        """Returns the configured ones."""
        return [(service, name) for service, resources in self._values.items() for name in resources]


plugin = Plugin(
    "Capacity as written in the configuration.",
    capacity=Offer(ManualParams, ManualCapacity),
)
