"""The plugin `liquid`: any service that speaks the LIQUID protocol. docs/plugins/liquid.md."""

from limes.backends import Offer, Plugin
from limes_plugins.liquid.capacity import LiquidCapacity
from limes_plugins.liquid.connection import LiquidCapacityParams, LiquidServiceParams
from limes_plugins.liquid.service import LiquidService

plugin = Plugin(
    "Any service that speaks the LIQUID protocol.",
    quota=Offer(LiquidServiceParams, LiquidService),
    capacity=Offer(LiquidCapacityParams, LiquidCapacity),
)
