"""Request bodies of the LIQUID protocol. Unknown keys are ignored: the protocol grows."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StrictInt, StrictStr

from limes.backends import AZDemand, DomainInfo, ProjectInfo, ResourceDemand
from limes.kernel import errors, units
from limes.web.call import RequestBody

Text = Annotated[StrictStr, Field(min_length=1)]
Amount = Annotated[StrictInt, Field(ge=0, le=units.MAX_AMOUNT)]
Total = Annotated[StrictInt, Field(ge=0)]


class DomainMetadata(RequestBody):
    uuid: Text
    name: Text


class ProjectMetadata(DomainMetadata):
    domain: DomainMetadata


class DemandInAZ(RequestBody):
    usage: Total = 0
    unusedCommitments: Total = 0
    pendingCommitments: Total = 0


class DemandForResource(RequestBody):
    overcommitFactor: Annotated[float, Field(ge=0)] = 0
    perAZ: Mapping[str, DemandInAZ] = Field(default_factory=dict)

    def demand(self) -> ResourceDemand:
        per_az = {
            az: AZDemand(demand.usage, demand.unusedCommitments, demand.pendingCommitments)
            for az, demand in self.perAZ.items()
        }
        return ResourceDemand(self.overcommitFactor, per_az)


class CapacityRequest(RequestBody):
    """The document of `POST /v1/report-capacity`."""

    allAZs: tuple[Text, ...]
    demandByResource: Mapping[str, DemandForResource] = Field(default_factory=dict)


class UsageRequest(RequestBody):
    """The document of `POST /v1/projects/{id}/report-usage`."""

    allAZs: tuple[Text, ...]
    projectMetadata: ProjectMetadata | None = None


class ResourceQuota(RequestBody):
    quota: Amount


class QuotaRequest(RequestBody):
    """The document of `PUT /v1/projects/{id}/quota`."""

    resources: Mapping[str, ResourceQuota]
    projectMetadata: ProjectMetadata | None = None


def project_of(project_id: str, metadata: ProjectMetadata | None) -> ProjectInfo:
    """Returns the project that a request is about. Raises `BadRequest` if it does not say enough."""
    if metadata is None:
        raise errors.BadRequest("projectMetadata: is needed here, as /v1/info says")
    if metadata.uuid != project_id:
        raise errors.BadRequest(f"projectMetadata.uuid: is {metadata.uuid!r}, but the path says {project_id!r}")
    domain = DomainInfo(metadata.domain.uuid, metadata.domain.name)
    return ProjectInfo(project_id, metadata.name, domain.id, domain)
