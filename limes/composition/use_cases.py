"""The use cases that both the API and the collector need."""

from typing import Any

from limes.actions.context import Limes
from limes.actions.discover import Discover
from limes.actions.growth.history import ReportGrowth
from limes.actions.growth.sample import SampleGrowth
from limes.actions.metering.close import CloseAccounts, Retention
from limes.actions.metering.report import ReportUsage
from limes.actions.push_quota import PushQuota
from limes.actions.sync_catalog import SyncCatalog


def build_sync_catalog(limes: Limes) -> SyncCatalog:
    """Returns the use case that keeps the rows that mirror the configuration."""
    grace, valid_for = limes.settings.collector.service_grace, limes.settings.usage_valid_for
    return SyncCatalog(limes.engine, limes.catalog, list(limes.backends.capacity), limes.clock, grace, valid_for)


def build_discovery(limes: Limes) -> Discover:
    """Returns the use case that follows Keystone."""
    return Discover(
        engine=limes.engine,
        backend=limes.backends.discovery,
        catalog=limes.catalog,
        constraints=limes.constraints,
        clock=limes.clock,
        limes=limes,
        change_log=limes.change_log,
        except_domains=limes.settings.discovery.except_domains,
        only_domains=limes.settings.discovery.only_domains,
        usage_valid_for=limes.settings.usage_valid_for,
    )


def build_quota_push(limes: Limes) -> PushQuota:
    """Returns the use case that writes quota into backends."""
    return PushQuota(
        engine=limes.engine,
        catalog=limes.catalog,
        backends=limes.backends.quota,
        clock=limes.clock,
        jitter=limes.jitter,
        lease=limes.lease,
        retry=limes.settings.collector.push_retry,
        retry_max=limes.settings.collector.push_retry_max,
        patience=limes.settings.api.backend_timeout,
        telemetry=limes.telemetry,
    )


def build_closing(limes: Limes) -> CloseAccounts:
    """Returns the use case that keeps the account of usage and commitments."""
    resources = {ref: limes.catalog.find(ref) for ref in limes.catalog.refs()}
    return CloseAccounts(
        limes.engine,
        limes.clock,
        limes.settings.usage_valid_for,
        limes.settings.metering.closes_after,
        retention_of_accounts(limes),
        {ref: resource.unit.value for ref, resource in resources.items() if resource is not None},
    )


def build_usage_report(limes: Limes) -> ReportUsage:
    """Returns the use case that tells what was used and committed."""
    return ReportUsage(limes.engine, limes.clock, limes.settings.usage_valid_for, retention_of_accounts(limes))


def retention_of_accounts(limes: Limes) -> Retention:
    """Returns for how long hours, days and months can be told."""
    metering = limes.settings.metering
    return Retention(metering.keep_hours, metering.keep_days, metering.keep_months)


def build_growth_report(limes: Limes) -> ReportGrowth:
    """Returns the use case that tells how usage has grown."""
    retention = retention_of_accounts(limes)
    return ReportGrowth(limes.engine, limes.catalog, limes.clock, limes.settings.usage_valid_for, retention)


def build_growth(limes: Limes) -> SampleGrowth:
    """Returns the use case that takes samples."""
    return SampleGrowth(limes.engine, limes.catalog, limes.clock, retention_of_accounts(limes))


def use_cases_of_api(limes: Limes) -> dict[str, Any]:
    """Returns those that handlers call as objects."""
    return {
        "usage": build_usage_report(limes),
        "growth": build_growth_report(limes),
        "discover_domains": lambda who: build_discovery(limes.as_initiator(who)).discover_domains(),
        "discover_projects": lambda domain, who: build_discovery(limes.as_initiator(who)).discover_projects(domain),
        "request_sync": lambda domain, project, who: build_discovery(limes.as_initiator(who)).request_sync(
            domain, project
        ),
    }
