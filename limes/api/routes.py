"""The whole surface of the Limes API, on one page: path, endpoint and, where one endpoint has several, its suffix."""

from typing import Any

from limes.api.collaborators import ApiCollaborators
from limes.api.endpoints.all_projects import AllProjectsEndpoint
from limes.api.endpoints.cluster import ClusterEndpoint
from limes.api.endpoints.commitment_shapes import ConversionRatesEndpoint, ReshapeEndpoint
from limes.api.endpoints.commitments import (
    CommitmentEventsEndpoint,
    OfferedCommitmentEndpoint,
    ProjectCommitmentEndpoint,
    ProjectCommitmentsEndpoint,
    PublicCommitmentsEndpoint,
)
from limes.api.endpoints.domain import DomainDiscoverEndpoint, DomainEndpoint, DomainListEndpoint
from limes.api.endpoints.history import HistoryEndpoint
from limes.api.endpoints.identity import IdentityEndpoint
from limes.api.endpoints.inconsistencies import InconsistenciesEndpoint, ScrapeErrorsEndpoint
from limes.api.endpoints.openapi import OpenApiEndpoint
from limes.api.endpoints.project import ProjectDiscoverEndpoint, ProjectEndpoint, ProjectListEndpoint
from limes.api.endpoints.version import VersionEndpoint, VersionListEndpoint

Route = tuple[str, Any, str | None]

PUBLIC_PATHS = frozenset({"/", "/v1/", "/v1/openapi.json"})
"""Paths that need no token."""


def routes(deps: ApiCollaborators) -> list[Route]:
    """The table. Methods follow from the endpoints' `on_*` methods; others are answered with 405."""
    domain, project = DomainEndpoint(deps), ProjectEndpoint(deps)
    commitments, commitment = ProjectCommitmentsEndpoint(deps), ProjectCommitmentEndpoint(deps)
    reshape, history = ReshapeEndpoint(deps), HistoryEndpoint(deps)
    of_project = "/v1/domains/{domain_id}/projects/{project_id}"
    table: list[Route] = [
        ("/", VersionListEndpoint(deps), None),
        ("/v1/", VersionEndpoint(deps), None),
        ("/v1/identity", IdentityEndpoint(), None),
        ("/v1/clusters/current", ClusterEndpoint(deps), None),
        ("/v1/domains", DomainListEndpoint(deps), None),
        ("/v1/domains/discover", DomainDiscoverEndpoint(deps), None),
        ("/v1/domains/{domain_id}", domain, None),
        ("/v1/domains/{domain_id}/simulate-put", domain, "simulate"),
        ("/v1/domains/{domain_id}/projects", ProjectListEndpoint(deps), None),
        ("/v1/domains/{domain_id}/projects/discover", ProjectDiscoverEndpoint(deps), None),
        ("/v1/domains/{domain_id}/projects/{project_id}", project, None),
        ("/v1/domains/{domain_id}/projects/{project_id}/simulate-put", project, "simulate"),
        ("/v1/domains/{domain_id}/projects/{project_id}/sync", project, "sync"),
        ("/v1/domains/{domain_id}/history", history, "domain"),
        ("/v1/domains/{domain_id}/explain", history, "explain_domain"),
        (f"{of_project}/history", history, "project"),
        (f"{of_project}/explain", history, "explain_project"),
        (f"{of_project}/commitments", commitments, None),
        (f"{of_project}/commitments/new", commitments, "new"),
        (f"{of_project}/commitments/can-confirm", commitments, "can_confirm"),
        (f"{of_project}/commitments/plan", commitments, "plan"),
        (f"{of_project}/commitments/merge", reshape, "merge"),
        (f"{of_project}/commitments/utilisation", commitments, "utilisation"),
        (f"{of_project}/commitments/{{id}}", commitment, None),
        (f"{of_project}/commitments/{{id}}/renew", reshape, "renew"),
        (f"{of_project}/commitments/{{id}}/update-duration", reshape, "duration"),
        (f"{of_project}/commitments/{{id}}/convert", reshape, "convert"),
        (f"{of_project}/commitments/{{id}}/start-transfer", commitment, "start_transfer"),
        (f"{of_project}/transfer-commitment/{{id}}", commitment, "transfer"),
        ("/v1/projects", AllProjectsEndpoint(deps), None),
        ("/v1/commitments", CommitmentEventsEndpoint(deps), None),
        ("/v1/commitments/by-token", OfferedCommitmentEndpoint(deps), None),
        ("/v1/commitment-conversion/{service_type}/{resource_name}", ConversionRatesEndpoint(deps), None),
        ("/v1/public-commitments", PublicCommitmentsEndpoint(deps), None),
        ("/v1/inconsistencies", InconsistenciesEndpoint(deps), None),
        ("/v1/admin/scrape-errors", ScrapeErrorsEndpoint(deps), None),
    ]
    table.append(("/v1/openapi.json", OpenApiEndpoint(table, PUBLIC_PATHS), None))
    return table


def described_routes() -> list[Route]:
    """The table with nothing behind it, for who describes the API and answers no request."""
    return routes(None)  # type: ignore[arg-type]  # endpoints first use their collaborators when a request comes
