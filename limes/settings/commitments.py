"""Commitments. Which resources have any, and for how long, is said in `resource_behavior`. Durations are in seconds."""

from typing import Annotated

from pydantic import Field, PositiveInt, StringConstraints, model_validator

from limes.settings.base import Seconds, Section

ResourcePath = Annotated[str, StringConstraints(pattern=r"^[^/]+/[^/]+$")]
"""`service/resource`."""


class CommitmentSettings(Section):
    """What projects may do with their commitments."""

    self_delete_grace: float = Field(default=0.0, ge=0)
    """For how long after making it a project may delete a commitment, also a confirmed one. 0: never; only cloud admins
    delete, and only unconfirmed ones."""
    renewal_window: Seconds = 90 * 86400.0
    """From how long before its end a commitment may be renewed."""
    retention: Seconds = 30 * 86400.0
    """How long after their end commitments are kept. Their events stay for good."""

    use_days: int = Field(default=90, ge=1, le=3660)
    """For how many days it is kept what projects have used, day by day, for the utilisation report."""
    conversions: tuple[dict[ResourcePath, PositiveInt], ...] = ()
    """Between which resources commitments can be converted: groups of `service/resource`, each with what one of it is
    worth. A conversion keeps the worth."""

    @model_validator(mode="after")
    def _kept_long_enough(self) -> "CommitmentSettings":
        if self.self_delete_grace > self.retention:
            raise ValueError("self_delete_grace must not be longer than retention")
        return self
