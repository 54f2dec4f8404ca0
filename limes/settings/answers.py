"""What is taken of the answers of other servers: the section `answers` of the configuration file."""

from pydantic import Field

from limes.settings.base import Seconds, Section


class AnswerSettings(Section):
    """Bounds of each answer of Keystone, of a backend, and of a Placement that is imported from.

    An answer beyond one of them is an error that names the bound."""

    max_transferred: int = Field(default=32 * 1024 * 1024, ge=1024)
    """Bytes of the body on the wire."""
    max_size: int = Field(default=64 * 1024 * 1024, ge=1024)
    """Bytes of the body after decompression."""
    max_depth: int = Field(default=64, ge=4)
    """Arrays and objects within each other in a JSON body."""
    timeout: Seconds = 60.0
    """From a request to a backend to the end of its answer. `identity.keystone.timeout` is that for Keystone, and no
    request takes longer than its task may: 80 % of `collector.lease`, or `api.backend_timeout`."""
