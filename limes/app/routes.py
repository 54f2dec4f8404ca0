"""The Limes API as a table: path, method, and what the OpenAPI document says about it. Features have
parts of it in their `routes`.

404, 405 and `Allow`, the paths without a token, the OpenAPI document and the requests in the documentation of the
policy rules follow from it.
"""

from functools import cache
from typing import Any

from limes.api import openapi, policy
from limes.api import parameters as p
from limes.api.call import GET, POST, PUT, Call, Operation
from limes.api.levels import DOMAIN, PROJECT, SELECTION, At, on_every_level
from limes.app import caller_handlers as caller
from limes.app.caller_answers import Document, IdentityAnswer, RightsAnswer, VersionAnswer, VersionsAnswer
from limes.autogrow import bodies as autogrow_bodies
from limes.autogrow import handlers as autogrow_handlers
from limes.collector import handlers as collector_handlers
from limes.commitments.routes import COMMITMENTS
from limes.growth.routes import GROWTH
from limes.lifetimes.routes import LIFETIMES
from limes.metering.routes import USAGE
from limes.notifications import handlers as mails
from limes.notifications.answers import MailSettingsAnswer
from limes.notifications.bodies import MailSettingsBody
from limes.notifications.mail import mailer
from limes.quota import bodies
from limes.quota import handlers as quota
from limes.quota.answers import HistoryAnswer, SimulationAnswer
from limes.reports import attention_handlers as attention
from limes.reports import explain_handlers as reports_explain_handlers
from limes.reports import handlers as reports
from limes.reports.attention_answers import AlertsAnswer, ExpiringCommitmentsAnswer, FullestAnswer, ScrapeStatusAnswer
from limes.reports.cluster_answers import ClusterAnswer, InconsistenciesAnswer, ScrapeErrorsAnswer
from limes.reports.explanation import ExplanationsAnswer
from limes.reports.project_answers import (
    AllProjectsAnswer,
    DomainAnswer,
    DomainsAnswer,
    NewDomainsAnswer,
    NewProjectsAnswer,
    ProjectAnswer,
    ProjectsAnswer,
)
from limes.reports.resources import ResourcesAnswer
from limes.requests.routes import QUOTA_REQUESTS
from limes.web.call import Answer, Html
from limes.web.encoding import dump
from limes.web.operation import document_rules


def show_openapi(call: Call) -> Answer:
    """Shows this document."""
    return Answer(data=_openapi())


_REPORT: tuple[p.Parameter, ...] = (*SELECTION, p.DETAIL, p.PREVIEW)
_TAGGED_REPORT = (*_REPORT, p.IF_NONE_MATCH)
_PAGED_REPORT = (*_REPORT, p.LIMIT, p.MARKER)
_CHANGES = (*SELECTION, p.CHANGES, p.BEFORE)
_FULLEST = (*SELECTION, p.ABOVE, p.FULLEST)
_EXPIRING = (*SELECTION, p.AHEAD, p.EXPIRING)
_ALERTS = (*SELECTION, p.ALERTS)

_UNSUBSCRIBE: tuple[dict[int, Any], tuple[int, ...], tuple[p.Parameter, ...]] = (
    {200: Html},
    (404, 413, 500, 503),
    (p.UNSUBSCRIBE_TOKEN,),
)

_ACCEPTED = {202: str}
_ERRORS = (404, 409, 412, 422, 423)
"""What goes wrong where something of a project is set."""
_SIMULATED = dict.fromkeys((200, 403, 409, 422), SimulationAnswer)
_QUOTA_RULES = ("raise", "raise_lowpriv", "lower", "lower_lowpriv")

SECTIONS = {
    "versions": {
        "/": GET(caller.list_versions, None, {300: VersionsAnswer}, public=True),
        "/v1/": GET(caller.show, None, {200: VersionAnswer}, public=True),
        "/v1/openapi.json": GET(show_openapi, None, {200: Document}, public=True),
        "/v1/identity": GET(caller.show_identity, None, {200: IdentityAnswer}),
        "/v1/rights": GET(caller.show_rights, None, {200: RightsAnswer}, parameters=(p.DOMAIN_ID, p.PROJECT_ID)),
    },
    "cluster": {
        "/v1/resources": GET(reports.list_resources, None, {200: ResourcesAnswer}, parameters=SELECTION),
        "/v1/clusters/current": GET(
            reports.show,
            "cluster:show",
            {200: ClusterAnswer},
            parameters=_REPORT,
            also=("cluster:show_basic", "cluster:show_subcapacity"),
            authorizes=True,
        ),
        "/v1/inconsistencies": GET(
            reports.list_inconsistencies, "cluster:show", {200: InconsistenciesAnswer}, (), SELECTION
        ),
        "/v1/admin/scrape-errors": GET(
            reports.list_scrape_errors, "cluster:show_errors", {200: ScrapeErrorsAnswer}, (), SELECTION
        ),
    },
    "domains": {
        "/v1/domains": GET(reports.list_domains, "domain:list", {200: DomainsAnswer}, (), _PAGED_REPORT),
        "/v1/domains/discover": POST(
            collector_handlers.discover_domains, "domain:discover", {202: NewDomainsAnswer, 204: None}
        ),
        DOMAIN: GET(
            reports.show_domain, "domain:show", {200: DomainAnswer, 304: None}, (404,), _TAGGED_REPORT, tagged=True
        )
        | PUT(
            quota.set_domain_quotas,
            "domain:show",
            _ACCEPTED,
            (404, 409, 412, 422),
            (p.IF_MATCH,),
            bodies.DomainQuotaBody,
            also=tuple(f"domain:{verb}" for verb in _QUOTA_RULES),
        ),
        f"{DOMAIN}/simulate-put": POST(
            quota.simulate_domain_quotas, "domain:show", _SIMULATED, (404, 412), (p.IF_MATCH,), bodies.DomainQuotaBody
        ),
        f"{DOMAIN}/max-quota": PUT(
            autogrow_handlers.limit_projects_of_domain,
            "domain:edit",
            _ACCEPTED,
            (404, 409, 422),
            body=autogrow_bodies.DomainMaxQuotaBody,
        ),
        f"{DOMAIN}/forbid-autogrowth": PUT(
            autogrow_handlers.stop_projects_of_domain,
            "domain:edit",
            _ACCEPTED,
            (404, 409, 422),
            body=autogrow_bodies.DomainForbidAutogrowthBody,
        ),
        f"{DOMAIN}/history": GET(
            quota.list_domain_changes, "domain:show_history", {200: HistoryAnswer}, (404,), _CHANGES
        ),
        f"{DOMAIN}/explain": GET(
            reports_explain_handlers.explain_domain_quotas, "domain:show", {200: ExplanationsAnswer}, (404,), SELECTION
        ),
    },
    "projects": {
        "/v1/projects": GET(reports.list_all, "cluster:list_projects", {200: AllProjectsAnswer}, (), _PAGED_REPORT),
        f"{DOMAIN}/projects": GET(reports.list_of_domain, "project:list", {200: ProjectsAnswer}, (404,), _PAGED_REPORT),
        f"{DOMAIN}/projects/discover": POST(
            collector_handlers.discover_projects, "project:discover", {202: NewProjectsAnswer, 204: None}, (404,)
        ),
        PROJECT: GET(
            reports.show_project, "project:show", {200: ProjectAnswer, 304: None}, (404,), _TAGGED_REPORT, tagged=True
        )
        | PUT(
            quota.set_project_quotas,
            "project:show",
            _ACCEPTED,
            _ERRORS,
            (p.IF_MATCH,),
            bodies.ProjectQuotaBody,
            also=tuple(f"project:{verb}" for verb in _QUOTA_RULES),
        ),
        f"{PROJECT}/simulate-put": POST(
            quota.simulate_project_quotas,
            "project:show",
            _SIMULATED,
            (404, 409, 412, 423),
            (p.IF_MATCH,),
            bodies.ProjectQuotaBody,
        ),
        f"{PROJECT}/max-quota": PUT(
            autogrow_handlers.limit_project,
            "project:edit",
            _ACCEPTED,
            _ERRORS,
            (p.IF_MATCH,),
            autogrow_bodies.ProjectMaxQuotaBody,
        ),
        f"{PROJECT}/min-quota": PUT(
            autogrow_handlers.grant_to_project,
            "project:grant_quota",
            _ACCEPTED,
            _ERRORS,
            (p.IF_MATCH,),
            autogrow_bodies.ProjectMinQuotaBody,
        ),
        f"{PROJECT}/forbid-autogrowth": PUT(
            autogrow_handlers.stop_project,
            "project:edit",
            _ACCEPTED,
            _ERRORS,
            (p.IF_MATCH,),
            autogrow_bodies.ProjectForbidAutogrowthBody,
        ),
        f"{PROJECT}/sync": POST(collector_handlers.sync, "project:sync", {202: None}, (404,)),
        f"{PROJECT}/history": GET(
            quota.list_project_changes, "project:show_history", {200: HistoryAnswer}, (404,), _CHANGES
        ),
        f"{PROJECT}/explain": GET(
            reports_explain_handlers.explain_project_quotas,
            "project:show",
            {200: ExplanationsAnswer},
            (404,),
            SELECTION,
        ),
    },
    "subresources": LIFETIMES,
    "usage": USAGE,
    "commitments": COMMITMENTS,
    "quota-requests": QUOTA_REQUESTS,
    "notifications": {
        "/v1/mail-settings": GET(mails.show_mail_settings, "user:mail_settings", {200: MailSettingsAnswer}, (404, 503))
        | PUT(
            mails.set_mail_settings,
            "user:mail_settings",
            {200: MailSettingsAnswer},
            (404, 409, 422, 503),
            body=MailSettingsBody,
        ),
        mailer.PATH: GET(mails.show_unsubscribe, None, *_UNSUBSCRIBE, public=True)
        | POST(mails.unsubscribe, None, *_UNSUBSCRIBE, public=True),
    },
    "attention": {
        **on_every_level(
            "alerts",
            Operation(attention.list_alerts, "cluster:show_alerts", {200: AlertsAnswer}, (), _ALERTS),
            At("Lists the same in a domain's projects."),
            At("Lists the same in a project."),
        ),
        "/v1/admin/scrape-status": GET(attention.show_scrape_status, "cluster:show_errors", {200: ScrapeStatusAnswer}),
        f"{DOMAIN}/scrape-status": GET(
            attention.show_scrape_status,
            "domain:show",
            {200: ScrapeStatusAnswer},
            (404,),
            name="show_scrape_status_of_domain",
            summary="Shows how scrapes of a domain's projects go, without what backends say, and how old figures are.",
        ),
        **on_every_level(
            "projects/fullest",
            Operation(attention.list_fullest, "cluster:list_projects", {200: FullestAnswer}, (), _FULLEST),
            At("Lists resources of a domain's projects near or beyond their quota, the fullest first.", "project:list"),
        ),
        **on_every_level(
            "expiring-commitments",
            Operation(
                attention.list_expiring, "cluster:list_commitments", {200: ExpiringCommitmentsAnswer}, (), _EXPIRING
            ),
            At("Lists those of a domain.", "domain:show"),
            At("Lists those of a project.", "project:show"),
        ),
    },
    "growth": GROWTH,
}
"""By section of the documentation, path and method."""

ROUTES = {path: operations for section in SECTIONS.values() for path, operations in section.items()}

DOCUMENTED_RULES = document_rules(policy.RULES, ROUTES)


@cache
def _openapi() -> bytes:
    return dump(openapi.build(SECTIONS, DOCUMENTED_RULES))
