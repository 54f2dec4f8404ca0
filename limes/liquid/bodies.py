"""Request bodies of the LIQUID protocol. What we don't know of is ignored: the protocol grows."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from limes.backends import AZDemand, DomainInfo, ProjectInfo, ResourceDemand
from limes.core.units import MAX_AMOUNT
from limes.errors import BadRequest

Text = Annotated[StrictStr, Field(min_length=1)]
Amount = Annotated[StrictInt, Field(ge=0, le=MAX_AMOUNT)]
Total = Annotated[StrictInt, Field(ge=0)]


class LiquidBody(BaseModel):
    """A part of a document."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class DomainMetadata(LiquidBody):
    """A Keystone domain."""

    uuid: Text
    name: Text


class ProjectMetadata(LiquidBody):
    """A Keystone project."""

    uuid: Text
    name: Text
    domain: DomainMetadata


class DemandInAZ(LiquidBody):
    """What projects demand in one AZ."""

    usage: Total = 0
    unusedCommitments: Total = 0
    pendingCommitments: Total = 0


class DemandForResource(LiquidBody):
    """What projects demand of one resource."""

    overcommitFactor: Annotated[float, Field(ge=0)] = 0
    perAZ: Mapping[str, DemandInAZ] = Field(default_factory=dict)

    def demand(self) -> ResourceDemand:
        """The same, as plugins know it."""
        per_az = {
            az: AZDemand(one.usage, one.unusedCommitments, one.pendingCommitments) for az, one in self.perAZ.items()
        }
        return ResourceDemand(self.overcommitFactor, per_az)


class CapacityRequest(LiquidBody):
    """The document of `POST /v1/report-capacity`."""

    allAZs: tuple[Text, ...]
    demandByResource: Mapping[str, DemandForResource] = Field(default_factory=dict)


class UsageRequest(LiquidBody):
    """The document of `POST /v1/projects/{id}/report-usage`."""

    allAZs: tuple[Text, ...]
    projectMetadata: ProjectMetadata | None = None


class ResourceQuota(LiquidBody):
    """A wanted quota."""

    quota: Amount


class QuotaRequest(LiquidBody):
    """The document of `PUT /v1/projects/{id}/quota`."""

    resources: Mapping[str, ResourceQuota]
    projectMetadata: ProjectMetadata | None = None


def project_of(project_id: str, metadata: ProjectMetadata | None) -> ProjectInfo:
    """The project that a request is about. Raises `BadRequest` where it does not say enough."""
    if metadata is None:
        raise BadRequest("projectMetadata: is needed here, as /v1/info says")
    if metadata.uuid != project_id:
        raise BadRequest(f"projectMetadata.uuid: is {metadata.uuid!r}, but the path says {project_id!r}")
    domain = DomainInfo(metadata.domain.uuid, metadata.domain.name)
    return ProjectInfo(project_id, metadata.name, domain.id, domain)
