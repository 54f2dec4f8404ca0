"""What HTTP processes have in common: address, workers, what they bear from clients, and trust of proxies."""

import ipaddress
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from limes.kernel.validation.durations import Seconds, SecondsOrZero
from limes.kernel.validation.sections import ListenAddress, Section


class ClientSettings(Section):
    """How long clients may take, and how many connections they may have. Numbers are for each worker process."""

    header_timeout: Seconds = 10.0
    """For the head of a request, from its first byte; for the first byte, from the opening of the connection. Then the
    answer is 408, or none if nothing came."""
    body_timeout: Seconds = 30.0
    """For the body of a request, from the end of its head. Each `min_rate` bytes that come give one second more, up to
    this again. Then the answer is 408."""
    send_timeout: Seconds = 30.0
    """For taking an answer. Each `min_rate` bytes that the client takes give one second more, up to this again. Then
    the connection is closed."""
    min_rate: int = Field(default=1024, ge=1)
    """Bytes a second that a client has to keep up in the long run."""
    connections: int = Field(default=2048, ge=16, le=65536)
    """Open connections. When there are more, the one that has been idle for longest is closed."""
    connections_per_peer: int = Field(default=1024, ge=0)
    """Open connections with one address, answered with 429 beyond; 0 for any number. Behind a proxy, the address is the
    proxy's, so this has to be at least what the proxy opens."""
    drain: Annotated[SecondsOrZero, Field(le=15)] = 0.0
    """After SIGTERM, requests are taken for so long, while `/healthcheck` says 503: so that a proxy that asks for it
    stops sending them first. At most 15 seconds."""
    compression: bool = True
    """Answers of 1 KiB or more are compressed (gzip) for clients that accept it. Switch it off if a proxy compresses
    them."""


def _network(value: str) -> str:
    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        raise ValueError("expected an address or a network, such as 10.1.2.3 or 10.1.0.0/16") from None
    return value


Network = Annotated[str, AfterValidator(_network)]
"""An address, or a network as ADDRESS/BITS."""


class ProxySettings(Section):
    """Which proxies are trusted to say where a request comes from. The client's address is in the access log and the
    audit, and sign-ins to the dashboard are slowed down by it."""

    trusted: tuple[Network, ...] = ()
    """Addresses and networks of the proxies in front of us. From others the header is ignored."""
    header: Literal["X-Forwarded-For", "Forwarded"] = "X-Forwarded-For"
    """The header that they add the client's address to. They have to set it themselves: one that they merely pass on is
    the client's word."""


class ServerSettings(Section):
    """What all processes with gunicorn have."""

    listen: ListenAddress
    workers: int = Field(default=2, ge=1, le=256)
    """Worker processes of gunicorn."""
    threads: int = Field(default=8, ge=1, le=256)
    """Threads of each worker."""
    clients: ClientSettings = ClientSettings()
