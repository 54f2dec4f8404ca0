"""Proxies in front of our APIs: the section `proxies` of the configuration file."""

import ipaddress
from typing import Annotated, Literal

from pydantic import AfterValidator

from limes.settings.base import Section


def _network(value: str) -> str:
    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        raise ValueError("expected an address or a network, such as 10.1.2.3 or 10.1.0.0/16") from None
    return value


Network = Annotated[str, AfterValidator(_network)]
"""An address, or a network as ADDRESS/BITS."""


class ProxySettings(Section):
    """Whom we believe where a request comes from. The client's address is in the access log and the audit, and sign-ins
    to the dashboard are slowed down by it."""

    trusted: tuple[Network, ...] = ()
    """Addresses and networks of the proxies in front of us. From others the header is ignored."""
    header: Literal["X-Forwarded-For", "Forwarded"] = "X-Forwarded-For"
    """The header that they add the client's address to. They have to set it themselves: one that they merely pass on is
    the client's word."""
