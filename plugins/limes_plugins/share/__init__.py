"""The plugin `sharev2`, as capacitor also `manila`: Manila's shares and snapshots. docs/plugins/sharev2.md."""

from limes.backends import Offer, Plugin
from limes_plugins.share.params import ManilaCapacityParams, ShareParams
from limes_plugins.share.service import ManilaCapacity, ShareService

plugin = Plugin(
    "Shares, snapshots and share networks of Manila, by share type.",
    quota=Offer(ShareParams, ShareService),
    capacity=Offer(ManilaCapacityParams, ManilaCapacity),
)
