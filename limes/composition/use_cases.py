"""The use cases that both the API and the collector need."""

from dataclasses import replace
from functools import partial
from typing import Any

from limes.actions.announce_ends import AnnounceEnds
from limes.actions.context import Limes
from limes.actions.discover import Discover
from limes.actions.distribute_quota import explain_allocation
from limes.actions.explain_quota import ExplainQuota
from limes.actions.growth.history import ReportGrowth
from limes.actions.growth.sample import SampleGrowth
from limes.actions.metering.close import CloseAccounts, Retention
from limes.actions.metering.report import ReportUsage
from limes.actions.push_quota import PushQuota
from limes.actions.quota_history import ShowHistory
from limes.actions.quota_requests.announce import Announce
from limes.actions.quota_requests.expire import ExpireRequests
from limes.actions.quota_requests.use_cases import QuotaRequestUseCases
from limes.actions.set_autogrow_bounds import SetAutogrowBounds
from limes.actions.set_bursting import SetBursting
from limes.actions.set_domain_quota import SetDomainQuota
from limes.actions.set_project_quota import SetProjectQuota
from limes.actions.settle_temporary_quotas import SettleTemporaryQuotas
from limes.actions.sync_catalog import SyncCatalog
from limes.audit.initiator import of_job


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


def build_project_setter(limes: Limes) -> SetProjectQuota:
    """Returns the use case that sets quotas of projects."""
    rules = (limes.engine, limes.catalog, limes.constraints, limes.lowpriv)
    push = limes.push_quota
    return SetProjectQuota(*rules, limes.clock, lambda *of: push(limes, *of), limes.change_log)


def build_domain_setter(limes: Limes) -> SetDomainQuota:
    """Returns the use case that sets quotas of domains."""
    return SetDomainQuota(limes.engine, limes.catalog, limes.constraints, limes.lowpriv, limes.change_log)


def build_bounds_setter(limes: Limes) -> SetAutogrowBounds:
    """Returns the use case that says how far quota may grow."""
    return SetAutogrowBounds(
        limes.engine, limes.catalog, limes.clock, limes.change_log, limes.overrides, limes.constraints
    )


def build_temporary_quotas(limes: Limes) -> SettleTemporaryQuotas:
    """Returns the use case that begins and ends temporary quotas. Quota is left to the push job."""
    limes = replace(limes, push_quota=lambda *of: ())
    section = limes.settings.notifications
    announce = AnnounceEnds(limes.engine, limes.catalog, limes.ids, section.sinks, frozenset(section.except_kinds))
    return SettleTemporaryQuotas(
        limes.engine,
        limes.clock,
        build_project_setter(limes),
        build_domain_setter(limes),
        limes.change_log,
        limes.settings.collector.temporary_quota_retry,
        announce,
    )


def build_quota_requests(limes: Limes) -> QuotaRequestUseCases:
    """Returns the use cases of requests for quota."""
    section, sinks = limes.settings.quota_requests, limes.settings.notifications
    announce = Announce(limes.engine, limes.catalog, limes.ids, sinks.sinks, frozenset(sinks.except_kinds))
    return QuotaRequestUseCases.build(
        build_project_setter(limes),
        build_domain_setter(limes),
        build_bounds_setter(limes),
        limes.auto_approval,
        announce,
        section.at_most_per_day,
        section.at_most_per_day_in_domain,
    )


def build_request_expiry(limes: Limes) -> ExpireRequests:
    """Returns the use case that closes requests for quota that have expired."""
    limes = replace(limes.as_initiator(of_job("temporary-quotas")), push_quota=lambda *of: ())
    return ExpireRequests(build_quota_requests(limes).ask.desk, limes.settings.quota_requests.expire_after)


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
    set_project_quota, set_domain_quota = build_project_setter(limes), build_domain_setter(limes)
    return {
        "set_domain_quota": set_domain_quota,
        "set_project_quota": set_project_quota,
        "set_bursting": SetBursting(limes.engine, limes.catalog, set_project_quota.tell_backends, limes.change_log),
        "set_autogrow_bounds": build_bounds_setter(limes),
        "quota_requests": build_quota_requests(limes),
        "usage": build_usage_report(limes),
        "growth": build_growth_report(limes),
        "history": ShowHistory(limes.engine),
        "explain": ExplainQuota(limes.catalog, set_project_quota, set_domain_quota, partial(explain_allocation, limes)),
        "discover_domains": lambda who: build_discovery(limes.as_initiator(who)).discover_domains(),
        "discover_projects": lambda domain, who: build_discovery(limes.as_initiator(who)).discover_projects(domain),
        "request_sync": lambda domain, project, who: build_discovery(limes.as_initiator(who)).request_sync(
            domain, project
        ),
    }
