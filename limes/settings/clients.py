"""What an HTTP process bears from its clients, whoever they are. Durations are in seconds."""

from pydantic import Field

from limes.settings.base import Seconds, Section


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
