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

_OF_PROJECT = "/v1/domains/{domain_id}/projects/{project_id}"
ROUTES: tuple[Route, ...] = (
    ("/", VersionListEndpoint, None),
    ("/v1/", VersionEndpoint, None),
    ("/v1/identity", IdentityEndpoint, None),
    ("/v1/clusters/current", ClusterEndpoint, None),
    ("/v1/domains", DomainListEndpoint, None),
    ("/v1/domains/discover", DomainDiscoverEndpoint, None),
    ("/v1/domains/{domain_id}", DomainEndpoint, None),
    ("/v1/domains/{domain_id}/simulate-put", DomainEndpoint, "simulate"),
    ("/v1/domains/{domain_id}/projects", ProjectListEndpoint, None),
    ("/v1/domains/{domain_id}/projects/discover", ProjectDiscoverEndpoint, None),
    ("/v1/domains/{domain_id}/projects/{project_id}", ProjectEndpoint, None),
    ("/v1/domains/{domain_id}/projects/{project_id}/simulate-put", ProjectEndpoint, "simulate"),
    ("/v1/domains/{domain_id}/projects/{project_id}/sync", ProjectEndpoint, "sync"),
    ("/v1/domains/{domain_id}/history", HistoryEndpoint, "domain"),
    ("/v1/domains/{domain_id}/explain", HistoryEndpoint, "explain_domain"),
    (f"{_OF_PROJECT}/history", HistoryEndpoint, "project"),
    (f"{_OF_PROJECT}/explain", HistoryEndpoint, "explain_project"),
    (f"{_OF_PROJECT}/commitments", ProjectCommitmentsEndpoint, None),
    (f"{_OF_PROJECT}/commitments/new", ProjectCommitmentsEndpoint, "new"),
    (f"{_OF_PROJECT}/commitments/can-confirm", ProjectCommitmentsEndpoint, "can_confirm"),
    (f"{_OF_PROJECT}/commitments/plan", ProjectCommitmentsEndpoint, "plan"),
    (f"{_OF_PROJECT}/commitments/merge", ReshapeEndpoint, "merge"),
    (f"{_OF_PROJECT}/commitments/utilisation", ProjectCommitmentsEndpoint, "utilisation"),
    (f"{_OF_PROJECT}/commitments/{{id}}", ProjectCommitmentEndpoint, None),
    (f"{_OF_PROJECT}/commitments/{{id}}/renew", ReshapeEndpoint, "renew"),
    (f"{_OF_PROJECT}/commitments/{{id}}/update-duration", ReshapeEndpoint, "duration"),
    (f"{_OF_PROJECT}/commitments/{{id}}/convert", ReshapeEndpoint, "convert"),
    (f"{_OF_PROJECT}/commitments/{{id}}/start-transfer", ProjectCommitmentEndpoint, "start_transfer"),
    (f"{_OF_PROJECT}/transfer-commitment/{{id}}", ProjectCommitmentEndpoint, "transfer"),
    ("/v1/projects", AllProjectsEndpoint, None),
    ("/v1/commitments", CommitmentEventsEndpoint, None),
    ("/v1/commitments/by-token", OfferedCommitmentEndpoint, None),
    ("/v1/commitment-conversion/{service_type}/{resource_name}", ConversionRatesEndpoint, None),
    ("/v1/public-commitments", PublicCommitmentsEndpoint, None),
    ("/v1/inconsistencies", InconsistenciesEndpoint, None),
    ("/v1/admin/scrape-errors", ScrapeErrorsEndpoint, None),
    ("/v1/openapi.json", OpenApiEndpoint, None),
)
"""With the classes of the endpoints. Methods follow from their `on_*` methods; others are answered with 405."""


def routes(deps: ApiCollaborators) -> list[Route]:
    """The table with the endpoints themselves, one of each class."""
    endpoints: dict[Any, Any] = {OpenApiEndpoint: OpenApiEndpoint(ROUTES, PUBLIC_PATHS)}
    for _, kind, _ in ROUTES:
        if kind not in endpoints:
            endpoints[kind] = kind(deps)
    return [(path, endpoints[kind], suffix) for path, kind, suffix in ROUTES]
