"""What the token of a request may do."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

Quota = Annotated[bool, Field(description="of at least one resource; `explain` says it of each")]


class CloudRights(TypedDict):
    """What can be done with the cloud as a whole."""

    show: bool
    show_inconsistencies: bool
    show_errors: bool
    show_alerts: bool
    list_domains: bool
    list_projects: bool
    list_commitments: Annotated[bool, Field(description="follow the changes of all commitments")]
    list_requests: Annotated[bool, Field(description="see who asks for more quota")]
    show_public_commitments: bool
    discover_domains: bool


class QuotaRights(TypedDict):
    """What can be done with quotas. Low privilege counts where the configuration has a limit for it."""

    set_quota: Annotated[bool, Field(description="any of the following four")]
    raise_quota: Quota
    raise_lowpriv_quota: Quota
    lower_quota: Quota
    lower_lowpriv_quota: Quota
    limit_growth: Annotated[bool, Field(description="of quota that grows by itself, where there is such")]


class DomainRights(QuotaRights):
    """What can be done with the domain, or with every domain."""

    show: bool
    show_history: bool
    show_alerts: bool
    list_projects: bool
    discover_projects: bool
    show_requests: Annotated[bool, Field(description="for more quota")]
    request_quota: bool
    decide_requests: Annotated[bool, Field(description="for more quota")]


class ProjectRights(QuotaRights):
    """What can be done with the project, or with every project of the domain or of the cloud."""

    show: bool
    show_history: bool
    show_alerts: bool
    sync: bool
    show_requests: Annotated[bool, Field(description="for more quota")]
    request_quota: bool
    decide_requests: Annotated[bool, Field(description="for more quota")]
    set_bursting: bool
    buy_commitments: bool
    plan_commitments: bool
    change_commitments: Annotated[bool, Field(description="renew, merge, convert, change the duration")]
    move_commitments: Annotated[bool, Field(description="mark for transfer, and take what others have marked")]
    delete_commitments: Annotated[bool, Field(description="those that are not confirmed")]
    grant_growing: Annotated[bool, Field(description="quota that grows by itself: what a project gets at least")]
    take_back_commitments: Annotated[bool, Field(description="those that were made a short while ago")]


class Rights(TypedDict):
    """By level."""

    cloud: CloudRights
    domain: DomainRights
    project: ProjectRights


class RightsAnswer(TypedDict):
    """Of the token of the request."""

    rights: Rights
