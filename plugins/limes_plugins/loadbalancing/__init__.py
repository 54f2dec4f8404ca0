"""The plugin `loadbalancing`: what Octavia counts. docs/plugins/loadbalancing.md."""

from limes.backends import Offer, Plugin
from limes_plugins.loadbalancing.service import LoadBalancingServiceParams, make_service

plugin = Plugin(
    "Load balancers, listeners, pools and so on of Octavia.", quota=Offer(LoadBalancingServiceParams, make_service)
)
