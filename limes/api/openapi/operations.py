"""What each route takes and answers, beyond what its path says. A test holds it against the table of routes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from limes.api import bodies, commitment_bodies, parameters
from limes.api.parameters import Parameter
from limes.api.shapes import commitments, history, others, reports


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one route."""

    tag: str
    answers: Mapping[int, Any]
    """By status: a shape, `str` for a plain text that may be empty, or None for no body."""
    errors: tuple[int, ...] = ()
    """Besides those that every route has. All of them are plain texts."""
    parameters: tuple[Parameter, ...] = ()
    body: type[BaseModel] | None = None
    tagged: bool = False
    """Whether answers have an entity tag."""


_SELECTION: tuple[Parameter, ...] = (parameters.SERVICE, parameters.AREA, parameters.RESOURCE)
_REPORT: tuple[Parameter, ...] = (*_SELECTION, parameters.DETAIL, parameters.PREVIEW)
_PAGE: tuple[Parameter, ...] = (parameters.LIMIT, parameters.MARKER)
_CHANGES: tuple[Parameter, ...] = (*_SELECTION, parameters.CHANGES, parameters.BEFORE)
_TOKEN: tuple[Parameter, ...] = (parameters.TRANSFER_TOKEN, parameters.TOKEN)

_SIMULATION = others.SimulationAnswer
_SIMULATED = {status: _SIMULATION for status in (200, 403, 409, 422)}
_COMMITMENT = commitments.CommitmentAnswer
_DOMAIN = "/v1/domains/{domain_id}"
_PROJECT = f"{_DOMAIN}/projects/{{project_id}}"
_COMMITMENTS = f"{_PROJECT}/commitments"

OPERATIONS: dict[tuple[str, str], Operation] = {
    ("GET", "/"): Operation("versions", {300: others.VersionsAnswer}),
    ("GET", "/v1/"): Operation("versions", {200: others.VersionAnswer}),
    ("GET", "/v1/openapi.json"): Operation("versions", {200: others.Document}),
    ("GET", "/v1/identity"): Operation("versions", {200: others.IdentityAnswer}),
    ("GET", "/v1/clusters/current"): Operation("cluster", {200: reports.ClusterAnswer}, parameters=_REPORT),
    ("GET", "/v1/inconsistencies"): Operation("cluster", {200: others.InconsistenciesAnswer}, parameters=_SELECTION),
    ("GET", "/v1/admin/scrape-errors"): Operation("cluster", {200: others.ScrapeErrorsAnswer}, parameters=_SELECTION),
    ("GET", "/v1/domains"): Operation("domains", {200: reports.DomainsAnswer}, parameters=_REPORT + _PAGE),
    ("POST", "/v1/domains/discover"): Operation("domains", {202: others.NewDomainsAnswer, 204: None}),
    ("GET", _DOMAIN): Operation(
        "domains",
        {200: reports.DomainAnswer, 304: None},
        (404,),
        (*_REPORT, parameters.IF_NONE_MATCH),
        tagged=True,
    ),
    ("PUT", _DOMAIN): Operation(
        "domains", {202: str}, (404, 409, 412, 422), (parameters.IF_MATCH,), body=bodies.DomainQuotaBody
    ),
    ("POST", f"{_DOMAIN}/simulate-put"): Operation(
        "domains", _SIMULATED, (404, 412), (parameters.IF_MATCH,), body=bodies.DomainQuotaBody
    ),
    ("GET", "/v1/projects"): Operation("projects", {200: reports.AllProjectsAnswer}, parameters=_REPORT + _PAGE),
    ("GET", f"{_DOMAIN}/projects"): Operation(
        "projects", {200: reports.ProjectsAnswer}, (404,), parameters=_REPORT + _PAGE
    ),
    ("POST", f"{_DOMAIN}/projects/discover"): Operation("projects", {202: others.NewProjectsAnswer, 204: None}, (404,)),
    ("GET", _PROJECT): Operation(
        "projects",
        {200: reports.ProjectAnswer, 304: None},
        (404,),
        (*_REPORT, parameters.IF_NONE_MATCH),
        tagged=True,
    ),
    ("PUT", _PROJECT): Operation(
        "projects", {202: str}, (404, 409, 412, 422, 423), (parameters.IF_MATCH,), body=bodies.ProjectQuotaBody
    ),
    ("POST", f"{_PROJECT}/simulate-put"): Operation(
        "projects", _SIMULATED, (404, 409, 412, 423), (parameters.IF_MATCH,), body=bodies.ProjectQuotaBody
    ),
    ("POST", f"{_PROJECT}/sync"): Operation("projects", {202: None}, (404,)),
    ("GET", f"{_DOMAIN}/history"): Operation("domains", {200: history.HistoryAnswer}, (404,), _CHANGES),
    ("GET", f"{_DOMAIN}/explain"): Operation("domains", {200: history.ExplanationsAnswer}, (404,), _SELECTION),
    ("GET", f"{_PROJECT}/history"): Operation("projects", {200: history.HistoryAnswer}, (404,), _CHANGES),
    ("GET", f"{_PROJECT}/explain"): Operation("projects", {200: history.ExplanationsAnswer}, (404,), _SELECTION),
    ("GET", _COMMITMENTS): Operation(
        "commitments", {200: commitments.CommitmentsAnswer}, (404,), (*_SELECTION, parameters.HISTORY)
    ),
    ("POST", f"{_COMMITMENTS}/new"): Operation(
        "commitments",
        {201: _COMMITMENT},
        (404, 409, 422, 423),
        (parameters.IDEMPOTENCY_KEY,),
        body=commitment_bodies.NewCommitmentBody,
    ),
    ("POST", f"{_COMMITMENTS}/can-confirm"): Operation(
        "commitments",
        {200: commitments.CanConfirmAnswer},
        (404, 422, 423),
        body=commitment_bodies.NewCommitmentBody,
    ),
    ("POST", f"{_COMMITMENTS}/plan"): Operation(
        "commitments", {200: commitments.PlanAnswer}, (404, 422, 423), body=commitment_bodies.NewCommitmentBody
    ),
    ("GET", f"{_COMMITMENTS}/utilisation"): Operation(
        "commitments", {200: commitments.UtilisationAnswer}, (404,), (*_SELECTION, parameters.DAYS)
    ),
    ("POST", f"{_COMMITMENTS}/merge"): Operation(
        "commitments", {202: _COMMITMENT}, (404, 409, 422), body=commitment_bodies.MergeBody
    ),
    ("DELETE", f"{_COMMITMENTS}/{{id}}"): Operation("commitments", {204: None}, (404, 409)),
    ("POST", f"{_COMMITMENTS}/{{id}}/renew"): Operation("commitments", {202: _COMMITMENT}, (404, 409, 422, 423)),
    ("POST", f"{_COMMITMENTS}/{{id}}/update-duration"): Operation(
        "commitments", {200: _COMMITMENT}, (404, 409, 422, 423), body=commitment_bodies.DurationBody
    ),
    ("POST", f"{_COMMITMENTS}/{{id}}/convert"): Operation(
        "commitments", {202: _COMMITMENT}, (404, 409, 422, 423), body=commitment_bodies.ConversionBody
    ),
    ("POST", f"{_COMMITMENTS}/{{id}}/start-transfer"): Operation(
        "commitments",
        {202: _COMMITMENT, 400: others.Message},
        (404, 409, 422),
        body=commitment_bodies.TransferBody,
    ),
    ("POST", f"{_PROJECT}/transfer-commitment/{{id}}"): Operation(
        "commitments", {202: _COMMITMENT}, (404, 409, 422, 423), _TOKEN
    ),
    ("GET", "/v1/commitments"): Operation(
        "commitments",
        {200: commitments.CommitmentEventsAnswer},
        parameters=(*_SELECTION, parameters.SINCE, parameters.EVENTS),
    ),
    ("GET", "/v1/commitments/by-token"): Operation("commitments", {200: _COMMITMENT}, (404,), _TOKEN),
    ("GET", "/v1/commitment-conversion/{service_type}/{resource_name}"): Operation(
        "commitments", {200: commitments.ConversionsAnswer}, (404, 422), _SELECTION
    ),
    ("GET", "/v1/public-commitments"): Operation(
        "commitments", {200: commitments.CommitmentsAnswer}, parameters=_SELECTION
    ),
}
