"""Months that are not kept are refused, rather than told as if nothing had been used."""

import pytest

from limes.actions.metering.close import CloseAccounts, Retention
from limes.actions.metering.report import ReportUsage
from limes.actions.metering.usage_query import UsageQuery
from limes.core.metering.calendar import DAY, Granularity, next_month, previous_month
from limes.errors import BadRequest
from tests.collector.lab import Lab
from tests.collector.metering import START, scrape


def test_months_that_are_not_kept(lab: Lab) -> None:
    """What is said to be kept is there, and what was before is refused."""
    keep = Retention(months=3)
    scrape(lab, 4)
    CloseAccounts(lab.engine, lab.clock, retention=keep).run()
    lab.clock.advance(300 * DAY)
    scrape(lab, 4)
    CloseAccounts(lab.engine, lab.clock, retention=keep).run()
    report = ReportUsage(lab.engine, lab.clock, retention=keep)
    with pytest.raises(BadRequest, match=r"single months are kept from 2026-07-01T00:00:00Z on; ask for later ones$"):
        report.page(UsageQuery(START, next_month(START), Granularity.MONTH))
    ((first,),) = lab.rows("SELECT MIN(begins) FROM usage_months")
    page = report.page(UsageQuery(first, next_month(first), Granularity.MONTH))
    assert [entry for part in report.entries(page) for entry in part]
    with pytest.raises(BadRequest, match="single months are kept from"):
        report.page(UsageQuery(previous_month(first), first, Granularity.MONTH))
