"""How much of an answer is taken from another server."""

from dataclasses import dataclass

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """Bounds of one answer. Whatever goes beyond one of them is an error that names it."""

    max_transferred: int = 32 * _MIB
    """Bytes of the body on the wire."""
    max_size: int = 64 * _MIB
    """Bytes of the body after decompression."""
    max_depth: int = 64
    """Arrays and objects within each other in a JSON body."""
    timeout: float = 60.0
    """Seconds from the request to the end of the answer, where a request does not bring a time of its own."""


DEFAULT_LIMITS = AnswerLimits()
