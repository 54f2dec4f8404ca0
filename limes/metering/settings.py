"""The account of usage and commitments over time."""

from pydantic import Field

from limes.kernel.validation.durations import Seconds
from limes.kernel.validation.sections import Section


class MeteringSettings(Section):
    """The account of what was used and committed over time, for bills and for growth."""

    interval: Seconds = 60.0
    """Time between two runs of the job. Changes of commitments are in the account after the next run."""
    valid_for: Seconds | None = None
    """How long what a scrape has found counts as known. Without another scrape, usage is unknown afterwards: a gap in
    the account. At least twice `collector.scrape_interval`, so that one that comes late makes no gap. Not given: 2
    hours, or four times `collector.scrape_interval` if that is longer."""
    closes_after: Seconds = 900.0
    """How long after its end a day (UTC) is closed; at least 5 minutes. What is recorded even later is a correction,
    with a version and a reason."""
    keep_hours: int = Field(default=14, ge=2, le=3660)
    """For how many days single hours are available, and closed days can be corrected."""
    keep_days: int = Field(default=400, ge=62, le=36600)
    """For how many days single days are available."""
    keep_months: int | None = Field(default=None, ge=1, le=12000)
    """For how many months single months are available. Not given: for ever."""
