"""What is configured about all commitments."""

from dataclasses import dataclass

from limes.core.conversion import ConversionGroup


@dataclass(frozen=True, slots=True)
class CommitmentRules:
    """Durations are in seconds."""

    self_delete_grace: float = 0.0
    """For how long after making it a project may delete a commitment, also a confirmed one."""
    renewal_window: float = 90 * 86400.0
    """From how long before its end a commitment may be renewed."""
    retention: float = 30 * 86400.0
    """How long commitments are kept after their end."""
    use_days: int = 90
    """For how many days back it is kept what was used."""
    conversions: tuple[ConversionGroup, ...] = ()
    """Between which resources commitments can be converted."""
