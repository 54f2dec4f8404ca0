"""Lifetimes of subresources."""

from typing import Annotated

from pydantic import Field

from limes.kernel.validation.durations import Seconds
from limes.kernel.validation.sections import Section
from limes.lifetimes.rules import LifetimeRule


class SubresourceLifetimeSettings(Section):
    """From when to when subresources existed, and with which attributes: to bill by flavor and hour."""

    resources: tuple[LifetimeRule, ...] = ()
    """The resources whose subresources are followed. Not given: none."""
    retention: Annotated[Seconds, Field(ge=86400)] = 400 * 86400.0
    """How long periods are kept after their end."""
