"""The capacitor `manual`: capacity as the operator wrote it down.

values:
  compute:
    cores: 4800                            # in AZ `any`
    ram: {az-one: 400000, az-two: 400000}  # by AZ
"""

from collections.abc import Collection
from typing import Annotated

from limes import backends


class ManualParams(backends.Params):
    """`values`: service type -> resource -> capacity in the resource's unit, or capacity by AZ."""

    values: Annotated[dict[str, dict[backends.ResourceName, backends.AmountPerAZ]], backends.NOT_EMPTY]


class ManualCapacity(backends.CapacityBackend):
    """Reports the configured values."""

    def __init__(self, params: ManualParams, context: backends.BackendContext) -> None:
        known = {*context.availability_zones, backends.ANY_AZ}
        problems = [
            f"values.{service}.{resource}.{az}: is not one of the configured availability_zones, nor 'any'"
            for service, resources in params.values.items()
            for resource, per_az in resources.items()
            for az in per_az
            if az not in known
        ]
        if problems:
            raise backends.ConfigError(problems)
        self._values = params.values

    def report_capacity(self) -> backends.CapacityReport:
        """Returns the configured values."""
        return backends.CapacityReport(
            {
                service: {
                    resource: {az: backends.AZCapacity(amount) for az, amount in per_az.items()}
                    for resource, per_az in resources.items()
                }
                for service, resources in self._values.items()
            }
        )

    def resources(self) -> Collection[backends.Ref]:
        """Returns the configured ones."""
        return [(service, name) for service, resources in self._values.items() for name in resources]


plugin = backends.Plugin(
    "Capacity as written in the configuration.", capacity=backends.Offer(ManualParams, ManualCapacity)
)
