"""The plugin `nova`: the capacity of Nova's hypervisors, as Placement knows it. docs/plugins/nova.md."""

from limes.backends import Offer, Plugin
from limes_plugins.nova.capacity import NovaCapacity
from limes_plugins.nova.params import NovaParams

plugin = Plugin("Cores, RAM and room for instances of Nova's hypervisors.", capacity=Offer(NovaParams, NovaCapacity))
