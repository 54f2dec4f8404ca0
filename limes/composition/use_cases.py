"""The use cases that both the API and the collector need."""

from dataclasses import replace
from functools import partial
from typing import Any

from limes.actions.announce_ends import AnnounceEnds
from limes.actions.context import Limes
from limes.actions.distribute_quota import explain_allocation
from limes.actions.explain_quota import ExplainQuota
from limes.actions.quota_history import ShowHistory
from limes.actions.quota_requests.announce import Announce
from limes.actions.quota_requests.expire import ExpireRequests
from limes.actions.quota_requests.use_cases import QuotaRequestUseCases
from limes.actions.set_autogrow_bounds import SetAutogrowBounds
from limes.actions.set_bursting import SetBursting
from limes.actions.set_domain_quota import SetDomainQuota
from limes.actions.set_project_quota import SetProjectQuota
from limes.actions.settle_temporary_quotas import SettleTemporaryQuotas
from limes.audit.initiator import of_job


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


def use_cases_of_api(limes: Limes) -> dict[str, Any]:
    """Returns those that handlers call as objects."""
    set_project_quota, set_domain_quota = build_project_setter(limes), build_domain_setter(limes)
    return {
        "set_domain_quota": set_domain_quota,
        "set_project_quota": set_project_quota,
        "set_bursting": SetBursting(limes.engine, limes.catalog, set_project_quota.tell_backends, limes.change_log),
        "set_autogrow_bounds": build_bounds_setter(limes),
        "quota_requests": build_quota_requests(limes),
        "history": ShowHistory(limes.engine),
        "explain": ExplainQuota(limes.catalog, set_project_quota, set_domain_quota, partial(explain_allocation, limes)),
    }
