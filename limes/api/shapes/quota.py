"""The outcome of setting a quota, the history of quotas, and explanations of them."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from limes.api.shapes.common import Amount, Link, Time, Unit, Warned

RefusalStatus = Literal[403, 409, 422]


class UnacceptableResource(TypedDict):
    """A quota that would be refused, why, and what would be accepted."""

    service_type: str
    name: str
    resource_name: str
    status: RefusalStatus
    message: str
    min_acceptable_quota: NotRequired[Amount]
    max_acceptable_quota: NotRequired[Amount]
    unit: NotRequired[Unit]


class SimulationAnswer(Warned):
    """What PUT would answer."""

    success: bool
    unacceptable_resources: NotRequired[list[UnacceptableResource]]


StoredAmount = Annotated[int, Field(ge=-1, description="-1 is a backend's unlimited quota")]


class Initiator(TypedDict):
    """A user, with the id and the name at that time, or a job of Limes."""

    type: Literal["user", "job"]
    id: NotRequired[str]
    name: str


class Change(TypedDict):
    """A change of one number."""

    number: Annotated[int, Field(ge=1)]
    at: Time
    what: Literal["quota", "backend_quota", "bursting", "max_quota", "forbid_autogrowth"]
    service: NotRequired[str]
    resource: NotRequired[str]
    unit: NotRequired[Unit]
    old: StoredAmount | bool | None
    new: StoredAmount | bool | None
    reason: Literal[
        "request", "auto-approval", "constraint", "backend-drift", "vanished", "autogrow", "distribution-model"
    ]
    detail: NotRequired[str]
    initiator: Initiator
    request_id: str


class HistoryAnswer(TypedDict):
    """Changes, the newest first, and a link to older ones if there may be more."""

    history: list[Change]
    history_links: list[Link]


class QuotaBound(TypedDict):
    """An outermost acceptable quota, and what would be said of one beyond it."""

    quota: Amount
    rule: Literal[
        "amount",
        "backend",
        "capacity",
        "commitments",
        "constraint",
        "domain_quota",
        "min_nonzero_project_quota",
        "permission",
        "projects_quota",
        "quota_distribution_model",
        "usage",
    ]
    message: str


class Explanation(Warned):
    """What decides on one quota."""

    service: str
    resource: str
    unit: NotRequired[Unit]
    quota: Amount
    usage: NotRequired[Amount]
    committed: NotRequired[Amount]
    projects_quota: Amount
    domain_quota: NotRequired[Amount]
    other_domains_quota: NotRequired[Amount]
    capacity: Amount
    usable_quota: NotRequired[Amount]
    constraint: NotRequired[str]
    min_nonzero_project_quota: NotRequired[Amount]
    min_acceptable_quota: QuotaBound
    max_acceptable_quota: QuotaBound
    origin: NotRequired[Change]


class ExplanationsAnswer(TypedDict):
    """One for each selected resource that has a quota."""

    explanations: list[Explanation]
