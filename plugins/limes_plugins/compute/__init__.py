"""The plugin `compute`: servers and server groups of Nova. docs/plugins/compute.md."""

from limes.backends import Offer, Plugin
from limes_plugins.compute.params import ComputeParams
from limes_plugins.compute.service import ComputeService

plugin = Plugin("Instances, cores, RAM and server groups of Nova.", quota=Offer(ComputeParams, ComputeService))
