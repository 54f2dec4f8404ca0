"""The plugin `placement`: usage, quota and capacity of whatever is counted in a Placement, ours or the OpenStack
project's. docs/plugins.md lists its params."""

from limes.backends import Offer, Plugin
from limes_plugins.placement.capacity import PlacementCapacity
from limes_plugins.placement.params import CapacityParams, ServiceParams
from limes_plugins.placement.service import PlacementService

plugin = Plugin(
    "Whatever is counted in a Placement; quota there or in Keystone's unified limits.",
    quota=Offer(ServiceParams, PlacementService),
    capacity=Offer(CapacityParams, PlacementCapacity),
)
