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
    tries: int = 0
    """How often the sink has refused it."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """How a delivery went. Events that are neither delivered nor refused were not tried."""

    delivered: Sequence[int] = ()
    """Numbers of events that the sink is sure to have: it has confirmed them, or they are on disk."""
    refused: Mapping[int, str] = field(default_factory=dict)
    """Why it refused others, by their numbers. A later try may succeed."""
    error: str | None = None
    """Why it stopped, if so. The text has no password in it."""
    later: Mapping[int, float] = field(default_factory=dict)
    """When to try others, by their numbers. Until then, all of their streams wait."""


class Sink(Protocol):
    """A receiver of events.

    Contract: `deliver` raises nothing. It takes the events in order, and after a refused one it skips all others of the
    same stream. It may be interrupted anywhere: an event that has arrived, but was not reported as delivered, is
    delivered again. It returns in bounded time, whatever the other side does. No two threads call it at the same time.
    """

    @property
    def name(self) -> str:
        """The name in the configuration."""
        ...

    def deliver(self, events: Sequence[OutgoingEvent]) -> Delivery:
        """Delivers events."""
        ...

    def try_out(self) -> str | None:
        """Returns why it could not take events now; None if it could. Sends and creates nothing, and raises nothing."""
        ...
