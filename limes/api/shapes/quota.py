"""The outcome of setting a quota, the history of quotas, and explanations of them."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from limes.api.shapes.common import Amount, Link, TemporaryQuota, Time, Unit, Warned

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


class EndingQuota(TypedDict):
    """A quota that will end by itself, and what it would be then if usage and commitments allow that."""

    service_type: str
    name: str
    unit: NotRequired[Unit]
    temporary_quota: TemporaryQuota
    gives_back: Annotated[int, Field(ge=0, description="at its end")]


class SimulationAnswer(Warned):
    """What PUT would answer."""

    success: bool
    temporary_quotas: NotRequired[list[EndingQuota]]
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
    what: Literal["quota", "backend_quota", "bursting", "max_quota", "min_quota", "forbid_autogrowth"]
    service: NotRequired[str]
    resource: NotRequired[str]
    unit: NotRequired[Unit]
    old: StoredAmount | bool | None
    new: StoredAmount | bool | None
    reason: Literal[
        "request",
        "auto-approval",
        "constraint",
        "backend-drift",
        "vanished",
        "autogrow",
        "distribution-model",
        "temporary-quota",
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


ByAZ = Annotated[dict[str, Amount], Field(description="amounts by availability zone")]


class AutogrowStep(TypedDict):
    """What a quota that grows by itself has of one step of the computation."""

    step: Literal["needed", "recent-usage", "growth", "base", "minimum"]
    quota: Amount
    per_az: ByAZ
    lacking: NotRequired[Annotated[ByAZ, Field(description="what there was no capacity for")]]
    capped: NotRequired[Annotated[Amount, Field(description="what a bound has taken from the wishes")]]


class AutogrowDemand(TypedDict):
    """What such a quota follows in one availability zone."""

    usage: Amount
    smallest_usage: Annotated[Amount, Field(description="of late")]
    largest_usage: Annotated[Amount, Field(description="of late")]
    committed: Amount


class AutogrowBound(TypedDict):
    """A bound of such a quota, and whose it is."""

    quota: Amount
    source: Literal["override", "max-quota", "min-quota", "constraint", "backend"]


class AutogrowAdvice(TypedDict):
    """Something that would raise such a quota."""

    action: Literal["commit", "keep-using", "raise-max-quota", "allow-growth", "ask-operator"]
    message: Annotated[str, Field(description="for people")]
    availability_zone: NotRequired[str]
    amount: NotRequired[Annotated[Amount, Field(description="how much more to commit to")]]
    quota: NotRequired[Annotated[Amount, Field(description="what it would be then, if there is capacity for it")]]


class Autogrow(TypedDict):
    """Why a quota that grows by itself is what it is."""

    computed_quota: Annotated[Amount, Field(description="what a computation would give now; small changes wait")]
    message: Annotated[str, Field(description="all of it in a line, for people")]
    demand: dict[str, AutogrowDemand]
    steps: list[AutogrowStep]
    minimum: NotRequired[AutogrowBound]
    maximum: NotRequired[AutogrowBound]
    forbid_autogrowth: NotRequired[Literal[True]]
    raised_by: list[AutogrowAdvice]


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
    temporary_quota: NotRequired[TemporaryQuota]
    constraint: NotRequired[str]
    min_nonzero_project_quota: NotRequired[Amount]
    min_acceptable_quota: QuotaBound
    max_acceptable_quota: QuotaBound
    growth: NotRequired[
        Annotated[Autogrow, Field(description="of a project's quota that grows by itself, if `resource` is given")]
    ]
    origin: NotRequired[Change]


class ExplanationsAnswer(TypedDict):
    """One for each selected resource that has a quota."""

    explanations: list[Explanation]
