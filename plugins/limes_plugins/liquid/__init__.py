"""The plugin `liquid`: any service that speaks the LIQUID protocol. docs/plugins/liquid.md."""

from limes.backends import Offer, Plugin
from limes_plugins.liquid.service import LiquidCapacity, LiquidCapacityParams, LiquidService, LiquidServiceParams

plugin = Plugin(
    "Any service that speaks the LIQUID protocol.",
    quota=Offer(LiquidServiceParams, LiquidService),
    capacity=Offer(LiquidCapacityParams, LiquidCapacity),
)
