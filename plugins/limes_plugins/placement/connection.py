"""How the plugin speaks with Placement."""

from limes.backends import BackendContext
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.params import ConnectionParams

MICROVERSION = "1.38"
"""The first one whose usages are grouped by consumer type (Placement of the Xena release)."""


def placement_client(params: ConnectionParams, context: BackendContext) -> ServiceClient:
    """Requests to the configured Placement."""
    return ServiceClient(context, params, name="Placement", service_type="placement", microversion=MICROVERSION)
