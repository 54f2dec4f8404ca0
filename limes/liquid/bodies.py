"""Request bodies of the LIQUID protocol. What we don't know of is ignored: the protocol grows."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from limes.backends import DomainInfo, ProjectInfo
from limes.core.units import MAX_AMOUNT
from limes.errors import BadRequest

Text = Annotated[StrictStr, Field(min_length=1)]


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


class CapacityRequest(LiquidBody):
    """The document of `POST /v1/report-capacity`."""

    allAZs: tuple[Text, ...]


class UsageRequest(CapacityRequest):
    """The document of `POST /v1/projects/{id}/report-usage`."""

    projectMetadata: ProjectMetadata | None = None


class ResourceQuota(LiquidBody):
    """A wanted quota."""

    quota: Annotated[StrictInt, Field(ge=0, le=MAX_AMOUNT)]


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
