"""What an HTTP process accepts from its clients before it looks at any token."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Durations in seconds, sizes in bytes; all of them for each worker process."""

    header_timeout: float = 10.0
    """From a request's first byte, or from the opening of the connection, to the end of its head."""
    body_timeout: float = 30.0
    """From the end of the head to the end of the body. Each `min_rate` bytes that arrive add one second."""
    send_timeout: float = 30.0
    """How long a client may take over an answer. Each `min_rate` bytes that it takes add one second."""
    min_rate: int = 1024
    """Bytes a second."""
    connections_per_peer: int = 1024
    """Open connections from one address; 0 for any number."""
    max_body_size: int = 10 * 1024 * 1024
    """The largest body that the app accepts. A larger one is not waited for: the app refuses it."""
    spool_size: int = 1024 * 1024 * 1024
    """How much of the temporary folder all bodies and answers that are too large for memory may take together."""
