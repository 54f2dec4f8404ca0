"""A plugin that asks the test's own backend over HTTP, as a real one would."""

from collections.abc import Mapping
from typing import Any

import requests

from limes.backends import (
    AZUsage,
    BackendContext,
    BackendError,
    BackendOutage,
    NoParams,
    Offer,
    Plugin,
    ProjectInfo,
    QuotaBackend,
    ResourceDef,
    ResourceUsage,
    ServiceDef,
    UsageReport,
)

RESOURCES = ("cores", "ram")


class FaultParams(NoParams):
    """Where the backend is."""

    url: str


class FaultService(QuotaBackend):
    """Two resources with quota."""

    def __init__(self, params: FaultParams, context: BackendContext) -> None:
        self._url = f"{params.url}/{context.name}"
        self._timeout = context.timeout
        self._service = ServiceDef(context.name, context.name, {name: ResourceDef(name) for name in RESOURCES})

    def describe(self) -> ServiceDef:
        return self._service

    def report_usage(self, project: ProjectInfo) -> UsageReport:
        answer = self._request("GET", project)
        try:
            return UsageReport(
                {
                    name: ResourceUsage({"az-one": AZUsage(answer[name]["usage"])}, answer[name]["quota"])
                    for name in RESOURCES
                }
            )
        except (KeyError, TypeError) as error:
            raise BackendError(f"GET {project.id}: this is no report: {answer!r}") from error

    def set_quota(self, project: ProjectInfo, quotas: Mapping[str, int]) -> None:
        self._request("PUT", project, dict(quotas))

    def _request(self, method: str, project: ProjectInfo, body: Any = None) -> Any:
        answer = requests.request(method, f"{self._url}/{project.id}", json=body, timeout=self._timeout)
        if answer.status_code >= 500:
            raise BackendOutage(f"{method} {project.id}: {answer.status_code}")
        try:
            return answer.json()
        except ValueError as error:
            raise BackendError(f"{method} {project.id}: this is no JSON") from error


plugin = Plugin("For fault tests", quota=Offer(FaultParams, FaultService))
