"""The `params` of the plugin."""

from pydantic import Field

from limes.backends import SecondsOrZero
from limes_plugins.loadbalancing import LoadBalancingParams
from limes_plugins.openstack.params import ConnectionParams, Text


class NetworkParams(ConnectionParams):
    """Of a service. A configured `endpoint` ends in `/v2.0`."""

    area: Text = "network"
    with_trunks: bool = False
    """Whether the extension `trunk` is on in Neutron."""
    with_bgpvpns: bool = False
    """Whether the extension `bgpvpn` is on in Neutron."""
    with_floating_ip_subresources: bool = False
    with_network_subresources: bool = False
    with_router_subresources: bool = False
    max_age: SecondsOrZero = Field(default=120, le=3600)
    """For how long the lists for subresources may be used once they are read; 0 reads the project's own ones each
    time."""
    page_size: int = Field(default=1000, ge=1)
    loadbalancing: LoadBalancingParams | None = None
    """How Octavia is found, to have its resources in this service as the original Limes does; without, they can be a
    service of their own with the plugin `loadbalancing`."""
