"""The plugin `network`: quota and usage of Neutron. docs/plugins/network.md."""

from limes.backends import Offer, Plugin
from limes_plugins.network.params import NetworkParams
from limes_plugins.network.service import NetworkService

plugin = Plugin("Networks, ports, routers and so on of Neutron.", quota=Offer(NetworkParams, NetworkService))
