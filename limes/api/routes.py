"""The whole Limes API on one page: path, method, and what the OpenAPI document says about it.

404, 405 and `Allow`, the paths without a token, the OpenAPI document and the requests in the documentation of the
policy rules follow from it.
"""

from functools import cache

from limes.api import openapi, policy
from limes.api import parameters as p
from limes.api.bodies import (
    ConversionBody,
    DomainQuotaBody,
    DurationBody,
    MergeBody,
    NewCommitmentBody,
    ProjectQuotaBody,
    TransferBody,
)
from limes.api.call import Call, Operation
from limes.api.handlers import (
    attention,
    cluster,
    commitment,
    commitment_summary,
    project,
    quota,
    resource,
    rights,
    version,
)
from limes.api.shapes.attention import (
    ExpiringCommitmentsAnswer,
    FullestAnswer,
    ScrapeStatusAnswer,
    UsageHistoryAnswer,
)
from limes.api.shapes.cluster import ClusterAnswer, InconsistenciesAnswer, ScrapeErrorsAnswer
from limes.api.shapes.commitment import (
    CanConfirmAnswer,
    CommitmentAnswer,
    CommitmentEventsAnswer,
    CommitmentsAnswer,
    CommitmentSummaryAnswer,
    ConversionsAnswer,
    Message,
    PlanAnswer,
    UtilisationAnswer,
)
from limes.api.shapes.common import ResourcesAnswer
from limes.api.shapes.project import (
    AllProjectsAnswer,
    DomainAnswer,
    DomainsAnswer,
    NewDomainsAnswer,
    NewProjectsAnswer,
    ProjectAnswer,
    ProjectsAnswer,
)
from limes.api.shapes.quota import ExplanationsAnswer, HistoryAnswer, SimulationAnswer
from limes.api.shapes.rights import RightsAnswer
from limes.api.shapes.version import Document, IdentityAnswer, VersionAnswer, VersionsAnswer
from limes.web.call import Answer
from limes.web.json import dump
from limes.web.operation import document_rules


def show_openapi(call: Call) -> Answer:
    """Shows this document."""
    return Answer(data=_openapi())


_DOMAIN = "/v1/domains/{domain_id}"
_PROJECT = f"{_DOMAIN}/projects/{{project_id}}"
_COMMITMENTS = f"{_PROJECT}/commitments"
_COMMITMENT = f"{_COMMITMENTS}/{{id}}"

_SELECTION: tuple[p.Parameter, ...] = (p.SERVICE, p.AREA, p.RESOURCE)
_REPORT: tuple[p.Parameter, ...] = (*_SELECTION, p.DETAIL, p.PREVIEW)
_TAGGED_REPORT = (*_REPORT, p.IF_NONE_MATCH)
_PAGED_REPORT = (*_REPORT, p.LIMIT, p.MARKER)
_CHANGES = (*_SELECTION, p.CHANGES, p.BEFORE)
_TOKEN = (p.TRANSFER_TOKEN, p.TOKEN)
_FULLEST = (*_SELECTION, p.ABOVE, p.FULLEST)
_SUMMARY = (*_SELECTION, p.AHEAD)
_EXPIRING = (*_SELECTION, p.AHEAD, p.EXPIRING)
_USAGE = (*_SELECTION, p.DAYS)

_SIMULATED = dict.fromkeys((200, 403, 409, 422), SimulationAnswer)
_COMMITMENT_ERRORS = (404, 409, 422, 423)
"""What goes wrong where a commitment is made or changed."""
_QUOTA_RULES = ("raise", "raise_lowpriv", "lower", "lower_lowpriv")

SECTIONS = {
    "versions": {
        "/": {"GET": Operation(version.list_versions, None, {300: VersionsAnswer}, public=True)},
        "/v1/": {"GET": Operation(version.show, None, {200: VersionAnswer}, public=True)},
        "/v1/openapi.json": {"GET": Operation(show_openapi, None, {200: Document}, public=True)},
        "/v1/identity": {"GET": Operation(version.show_identity, None, {200: IdentityAnswer})},
        "/v1/rights": {
            "GET": Operation(rights.show_rights, None, {200: RightsAnswer}, parameters=(p.DOMAIN_ID, p.PROJECT_ID))
        },
    },
    "cluster": {
        "/v1/resources": {
            "GET": Operation(resource.list_resources, None, {200: ResourcesAnswer}, parameters=_SELECTION)
        },
        "/v1/clusters/current": {
            "GET": Operation(
                cluster.show,
                "cluster:show",
                {200: ClusterAnswer},
                parameters=_REPORT,
                also=("cluster:show_basic", "cluster:show_subcapacity"),
                authorizes=True,
            )
        },
        "/v1/inconsistencies": {
            "GET": Operation(cluster.list_inconsistencies, "cluster:show", {200: InconsistenciesAnswer}, (), _SELECTION)
        },
        "/v1/admin/scrape-errors": {
            "GET": Operation(
                cluster.list_scrape_errors, "cluster:show_errors", {200: ScrapeErrorsAnswer}, (), _SELECTION
            )
        },
    },
    "domains": {
        "/v1/domains": {"GET": Operation(project.list_domains, "domain:list", {200: DomainsAnswer}, (), _PAGED_REPORT)},
        "/v1/domains/discover": {
            "POST": Operation(project.discover_domains, "domain:discover", {202: NewDomainsAnswer, 204: None})
        },
        _DOMAIN: {
            "GET": Operation(
                project.show_domain, "domain:show", {200: DomainAnswer, 304: None}, (404,), _TAGGED_REPORT, tagged=True
            ),
            "PUT": Operation(
                quota.set_domain_quotas,
                "domain:show",
                {202: str},
                (404, 409, 412, 422),
                (p.IF_MATCH,),
                DomainQuotaBody,
                also=tuple(f"domain:{verb}" for verb in _QUOTA_RULES),
            ),
        },
        f"{_DOMAIN}/simulate-put": {
            "POST": Operation(
                quota.simulate_domain_quotas, "domain:show", _SIMULATED, (404, 412), (p.IF_MATCH,), DomainQuotaBody
            )
        },
        f"{_DOMAIN}/history": {
            "GET": Operation(quota.list_domain_changes, "domain:show_history", {200: HistoryAnswer}, (404,), _CHANGES)
        },
        f"{_DOMAIN}/explain": {
            "GET": Operation(quota.explain_domain_quotas, "domain:show", {200: ExplanationsAnswer}, (404,), _SELECTION)
        },
    },
    "projects": {
        "/v1/projects": {
            "GET": Operation(project.list_all, "cluster:list_projects", {200: AllProjectsAnswer}, (), _PAGED_REPORT)
        },
        f"{_DOMAIN}/projects": {
            "GET": Operation(project.list_of_domain, "project:list", {200: ProjectsAnswer}, (404,), _PAGED_REPORT)
        },
        f"{_DOMAIN}/projects/discover": {
            "POST": Operation(
                project.discover_projects, "project:discover", {202: NewProjectsAnswer, 204: None}, (404,)
            )
        },
        _PROJECT: {
            "GET": Operation(
                project.show_project,
                "project:show",
                {200: ProjectAnswer, 304: None},
                (404,),
                _TAGGED_REPORT,
                tagged=True,
            ),
            "PUT": Operation(
                quota.set_project_quotas,
                "project:show",
                {202: str},
                (404, 409, 412, 422, 423),
                (p.IF_MATCH,),
                ProjectQuotaBody,
                also=tuple(f"project:{verb}" for verb in _QUOTA_RULES),
            ),
        },
        f"{_PROJECT}/simulate-put": {
            "POST": Operation(
                quota.simulate_project_quotas,
                "project:show",
                _SIMULATED,
                (404, 409, 412, 423),
                (p.IF_MATCH,),
                ProjectQuotaBody,
            )
        },
        f"{_PROJECT}/sync": {"POST": Operation(project.sync, "project:sync", {202: None}, (404,))},
        f"{_PROJECT}/history": {
            "GET": Operation(quota.list_project_changes, "project:show_history", {200: HistoryAnswer}, (404,), _CHANGES)
        },
        f"{_PROJECT}/explain": {
            "GET": Operation(
                quota.explain_project_quotas, "project:show", {200: ExplanationsAnswer}, (404,), _SELECTION
            )
        },
    },
    "commitments": {
        _COMMITMENTS: {
            "GET": Operation(
                commitment.list_of_project, "project:show", {200: CommitmentsAnswer}, (404,), (*_SELECTION, p.HISTORY)
            )
        },
        f"{_COMMITMENTS}/new": {
            "POST": Operation(
                commitment.create,
                "project:edit",
                {201: CommitmentAnswer},
                _COMMITMENT_ERRORS,
                (p.IDEMPOTENCY_KEY,),
                NewCommitmentBody,
            )
        },
        f"{_COMMITMENTS}/can-confirm": {
            "POST": Operation(
                commitment.can_confirm, "project:edit", {200: CanConfirmAnswer}, (404, 422, 423), body=NewCommitmentBody
            )
        },
        f"{_COMMITMENTS}/plan": {
            "POST": Operation(
                commitment.plan, "project:edit", {200: PlanAnswer}, (404, 422, 423), body=NewCommitmentBody
            )
        },
        f"{_COMMITMENTS}/utilisation": {
            "GET": Operation(
                commitment.show_utilisation, "project:show", {200: UtilisationAnswer}, (404,), (*_SELECTION, p.DAYS)
            )
        },
        f"{_COMMITMENTS}/merge": {
            "POST": Operation(
                commitment.merge, "project:edit", {202: CommitmentAnswer}, (404, 409, 422), body=MergeBody
            )
        },
        _COMMITMENT: {
            # `project:edit` will do, too, within the configured time of grace
            "DELETE": Operation(commitment.delete, "project:uncommit", {204: None}, (404, 409), authorizes=True)
        },
        f"{_COMMITMENT}/renew": {
            "POST": Operation(commitment.renew, "project:edit", {202: CommitmentAnswer}, _COMMITMENT_ERRORS)
        },
        f"{_COMMITMENT}/update-duration": {
            "POST": Operation(
                commitment.update_duration,
                "project:edit",
                {200: CommitmentAnswer},
                _COMMITMENT_ERRORS,
                body=DurationBody,
            )
        },
        f"{_COMMITMENT}/convert": {
            "POST": Operation(
                commitment.convert, "project:edit", {202: CommitmentAnswer}, _COMMITMENT_ERRORS, body=ConversionBody
            )
        },
        f"{_COMMITMENT}/start-transfer": {
            "POST": Operation(
                commitment.start_transfer,
                "project:edit",
                {202: CommitmentAnswer, 400: Message},
                (404, 409, 422),
                body=TransferBody,
            )
        },
        f"{_PROJECT}/transfer-commitment/{{id}}": {
            "POST": Operation(commitment.transfer, "project:edit", {202: CommitmentAnswer}, _COMMITMENT_ERRORS, _TOKEN)
        },
        "/v1/commitments": {
            "GET": Operation(
                commitment.list_events,
                "cluster:list_commitments",
                {200: CommitmentEventsAnswer},
                parameters=(*_SELECTION, p.SINCE, p.EVENTS),
            )
        },
        "/v1/commitment-summary": {
            "GET": Operation(
                commitment_summary.show_summary,
                "cluster:list_commitments",
                {200: CommitmentSummaryAnswer},
                parameters=_SUMMARY,
            )
        },
        f"{_DOMAIN}/commitment-summary": {
            "GET": Operation(
                commitment_summary.show_summary_of_domain,
                "domain:show",
                {200: CommitmentSummaryAnswer},
                (404,),
                _SUMMARY,
            )
        },
        f"{_PROJECT}/commitment-summary": {
            "GET": Operation(
                commitment_summary.show_summary_of_project,
                "project:show",
                {200: CommitmentSummaryAnswer},
                (404,),
                _SUMMARY,
            )
        },
        "/v1/commitments/by-token": {
            "GET": Operation(
                commitment.show_by_token, "cluster:show_public_commitments", {200: CommitmentAnswer}, (404,), _TOKEN
            )
        },
        "/v1/commitment-conversion/{service_type}/{resource_name}": {
            "GET": Operation(
                commitment.list_conversions, "cluster:show_basic", {200: ConversionsAnswer}, (404, 422), _SELECTION
            )
        },
        "/v1/public-commitments": {
            "GET": Operation(
                commitment.list_public, "cluster:show_public_commitments", {200: CommitmentsAnswer}, (), _SELECTION
            )
        },
    },
    "attention": {
        "/v1/admin/scrape-status": {
            "GET": Operation(attention.show_scrape_status, "cluster:show_errors", {200: ScrapeStatusAnswer})
        },
        f"{_DOMAIN}/scrape-status": {
            "GET": Operation(attention.show_scrape_status_of_domain, "domain:show", {200: ScrapeStatusAnswer}, (404,))
        },
        "/v1/projects/fullest": {
            "GET": Operation(attention.list_fullest, "cluster:list_projects", {200: FullestAnswer}, (), _FULLEST)
        },
        f"{_DOMAIN}/projects/fullest": {
            "GET": Operation(attention.list_fullest_of_domain, "project:list", {200: FullestAnswer}, (404,), _FULLEST)
        },
        "/v1/expiring-commitments": {
            "GET": Operation(
                attention.list_expiring, "cluster:list_commitments", {200: ExpiringCommitmentsAnswer}, (), _EXPIRING
            )
        },
        f"{_DOMAIN}/expiring-commitments": {
            "GET": Operation(
                attention.list_expiring_of_domain, "domain:show", {200: ExpiringCommitmentsAnswer}, (404,), _EXPIRING
            )
        },
        f"{_PROJECT}/expiring-commitments": {
            "GET": Operation(
                attention.list_expiring_of_project, "project:show", {200: ExpiringCommitmentsAnswer}, (404,), _EXPIRING
            )
        },
        "/v1/usage-history": {
            "GET": Operation(attention.show_usage_history, "cluster:show", {200: UsageHistoryAnswer}, (), _USAGE)
        },
        f"{_DOMAIN}/usage-history": {
            "GET": Operation(
                attention.show_usage_history_of_domain, "domain:show", {200: UsageHistoryAnswer}, (404,), _USAGE
            )
        },
        f"{_PROJECT}/usage-history": {
            "GET": Operation(
                attention.show_usage_history_of_project, "project:show", {200: UsageHistoryAnswer}, (404,), _USAGE
            )
        },
    },
}
"""By section of the documentation, path and method."""

ROUTES = {path: operations for section in SECTIONS.values() for path, operations in section.items()}

DOCUMENTED_RULES = document_rules(policy.RULES, ROUTES)
"""The policy rules, each with the requests that it guards."""


@cache
def _openapi() -> bytes:
    return dump(openapi.build(SECTIONS, DOCUMENTED_RULES))
