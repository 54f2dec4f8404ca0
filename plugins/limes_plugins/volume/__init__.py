"""The plugin `volumev2`, as capacitor also `cinder`: Cinder's volumes and snapshots. docs/plugins/volumev2.md."""

from limes.backends import Offer, Plugin
from limes_plugins.volume.capacity import CinderCapacity
from limes_plugins.volume.service import CinderCapacityParams, VolumeParams, VolumeService

plugin = Plugin(
    "Capacity, volumes and snapshots of Cinder, by volume type.",
    quota=Offer(VolumeParams, VolumeService),
    capacity=Offer(CinderCapacityParams, CinderCapacity),
)
