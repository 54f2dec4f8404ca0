"""The `params` of the plugin."""

from pathlib import Path

from limes_plugins.openstack.params import ConnectionParams, Text


class LiquidParams(ConnectionParams):
    """How the liquid is found. A configured `endpoint` has no `/v1`."""

    catalog_type: Text | None = None
    """The liquid's type in Keystone's catalog; without, `liquid-` and the service's type."""
    info_file: Path | None = None
    """Where the liquid's description of itself is kept, so that Limes can start while the liquid is down."""


class LiquidServiceParams(LiquidParams):
    """Of a service."""

    area: Text


class LiquidCapacityParams(LiquidParams):
    """Of a capacitor."""

    service: Text
    """The service type whose capacity this is."""
