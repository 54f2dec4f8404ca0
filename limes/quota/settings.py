"""Preset sizes of quota."""

from pydantic import Field

from limes.kernel.validation.sections import Section


class QuotaSetSettings(Section):
    """One size."""

    description: str = ""
    """What it is for, in a few words. Clients show it beside the name."""
    quotas: dict[str, dict[str, str | int]] = Field(min_length=1)
    """Service -> resource -> `10` or `10 GiB`."""
