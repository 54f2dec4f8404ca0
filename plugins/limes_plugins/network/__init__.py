"""The plugin `network`: what Neutron counts, and with it what Octavia counts, if wanted. docs/plugins/network.md."""

from limes.backends import Offer, Plugin
from limes_plugins.network.service import NetworkParams, NetworkService

plugin = Plugin("Networks, ports, routers and so on of Neutron.", quota=Offer(NetworkParams, NetworkService))
