"""Months that are not kept are refused, rather than told as if nothing had been used."""

import pytest

from limes.kernel.calendar import DAY, Granularity, next_month, previous_month
from limes.kernel.errors import BadRequest
from limes.metering.entries import UsageQuery
from limes.metering.report import find_page
from tests.collector.lab import Lab
from tests.metering.in_lab import START, close, scrape, with_metering
from tests.support.usage import read_entries


def test_months_that_are_not_kept(lab: Lab) -> None:
    """What is said to be kept is there, and what was before is refused."""
    keep = {"keep_months": 3}
    scrape(lab, 4)
    close(lab, **keep)
    lab.clock.advance(300 * DAY)
    scrape(lab, 4)
    close(lab, **keep)
    limes = with_metering(lab, **keep)
    with pytest.raises(BadRequest, match=r"single months are kept from 2026-07-01T00:00:00Z on; ask for later ones$"):
        find_page(limes, UsageQuery(START, next_month(START), Granularity.MONTH))
    ((first,),) = lab.rows("SELECT MIN(begins) FROM usage_months")
    assert read_entries(limes, UsageQuery(first, next_month(first), Granularity.MONTH))
    with pytest.raises(BadRequest, match="single months are kept from"):
        find_page(limes, UsageQuery(previous_month(first), first, Granularity.MONTH))
