"""The contract of sinks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class OutgoingEvent:
    """An event to deliver."""

    number: int
    stream: str
    id: str
    document: str
    """JSON, in one line."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """How the delivery of some events went. Those in neither list are as if they had never been given."""

    delivered: Sequence[int] = ()
    """Numbers of those that the sink has for sure: it has said so, or they are on disk."""
    refused: Mapping[int, str] = field(default_factory=dict)
    """Why it did not want others, by their numbers. A further try may go well."""
    error: str | None = None
    """Why it did not go on. The text has no password in it."""


class Sink(Protocol):
    """Somebody who wants to know of events.

    Contract: `deliver` raises nothing. It takes the events in their order, and after one that was refused it leaves out
    all others of the same stream. It may be interrupted anywhere: an event that has arrived, but is not among those
    delivered, is delivered once more. It comes back in bounded time, whatever the other side does. No two threads call
    it at the same time.
    """

    @property
    def name(self) -> str:
        """As in the configuration."""
        ...

    def deliver(self, events: Sequence[OutgoingEvent]) -> Delivery:
        """Delivers events."""
        ...

    def try_out(self) -> str | None:
        """Why it would not take events now; None if it would. Sends nothing, raises nothing, makes nothing."""
        ...
