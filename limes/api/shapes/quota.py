"""The outcome of setting a quota, the history of quotas, and explanations of them."""

from typing import Annotated, Literal

from pydantic import Field

from limes.api.shapes.common import Amount, Link, TemporaryQuota, Time, Unit
from limes.api.shapes.shape import Shape

RefusalStatus = Literal[403, 409, 422]


class UnacceptableResource(Shape):
    """A quota that would be refused, why, and what would be accepted."""

    service_type: str
    name: str
    resource_name: str
    status: RefusalStatus
    message: str
    min_acceptable_quota: Amount | None = None
    max_acceptable_quota: Amount | None = None
    unit: Unit | None = None


class EndingQuota(Shape):
    """A quota that will end by itself, and what it would be then if usage and commitments allow that."""

    service_type: str
    name: str
    temporary_quota: TemporaryQuota
    gives_back: Annotated[int, Field(ge=0, description="at its end")]
    unit: Unit | None = None


class SimulationAnswer(Shape):
    """What PUT would answer."""

    success: bool
    temporary_quotas: list[EndingQuota] = []
    warnings: list[str] = []
    unacceptable_resources: list[UnacceptableResource] = []


StoredAmount = Annotated[int, Field(ge=-1, description="-1 is a backend's unlimited quota")]


class Initiator(Shape):
    """A user, with the id and the name at that time, or a job of Limes."""

    type: Literal["user", "job"]
    id: str | None = None
    name: str


Changed = Literal["quota", "backend_quota", "bursting", "max_quota", "min_quota", "forbid_autogrowth"]
ChangeReason = Literal[
    "request",
    "auto-approval",
    "constraint",
    "backend-drift",
    "vanished",
    "autogrow",
    "distribution-model",
    "temporary-quota",
]


class Change(Shape):
    """A change of one number."""

    number: Annotated[int, Field(ge=1)]
    at: Time
    what: Changed
    service: str | None = None
    resource: str | None = None
    unit: Unit | None = None
    old: StoredAmount | bool | None
    new: StoredAmount | bool | None
    reason: ChangeReason
    detail: str | None = None
    initiator: Initiator
    request_id: str


class HistoryAnswer(Shape):
    """Changes, the newest first, and a link to older ones if there may be more."""

    history: list[Change]
    history_links: list[Link]


class QuotaBound(Shape):
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


class AutogrowStep(Shape):
    """What a quota that grows by itself has of one step of the computation."""

    step: Literal["needed", "recent-usage", "growth", "base", "minimum"]
    quota: Amount
    per_az: ByAZ
    lacking: Annotated[ByAZ, Field(description="what there was no capacity for")] = {}
    capped: Annotated[Amount, Field(description="what a bound has taken from the wishes")] = 0


class AutogrowDemand(Shape):
    """What such a quota follows in one availability zone."""

    usage: Amount
    smallest_usage: Annotated[Amount, Field(description="of late")]
    largest_usage: Annotated[Amount, Field(description="of late")]
    committed: Amount


class AutogrowBound(Shape):
    """A bound of such a quota, and whose it is."""

    quota: Amount
    source: Literal["override", "max-quota", "min-quota", "constraint", "backend"]


class AutogrowAdvice(Shape):
    """Something that would raise such a quota."""

    action: Literal["commit", "keep-using", "raise-max-quota", "allow-growth", "ask-operator"]
    message: Annotated[str, Field(description="for people")]
    availability_zone: str | None = None
    amount: Annotated[Amount, Field(description="how much more to commit to")] | None = None
    quota: Annotated[Amount, Field(description="what it would be then, if there is capacity for it")] | None = None


class Autogrow(Shape):
    """Why a quota that grows by itself is what it is."""

    computed_quota: Annotated[Amount, Field(description="what a computation would give now; small changes wait")]
    message: Annotated[str, Field(description="all of it in a line, for people")]
    demand: dict[str, AutogrowDemand]
    steps: list[AutogrowStep]
    raised_by: list[AutogrowAdvice]
    minimum: AutogrowBound | None = None
    maximum: AutogrowBound | None = None
    forbid_autogrowth: Literal[True] | None = None


class Explanation(Shape):
    """What decides on one quota."""

    service: str
    resource: str
    unit: Unit | None = None
    quota: Amount
    usage: Amount | None = None
    committed: Amount | None = None
    projects_quota: Amount
    domain_quota: Amount | None = None
    other_domains_quota: Amount | None = None
    capacity: Amount
    usable_quota: Amount | None = None
    temporary_quota: TemporaryQuota | None = None
    constraint: str | None = None
    min_nonzero_project_quota: Amount = 0
    min_acceptable_quota: QuotaBound
    max_acceptable_quota: QuotaBound
    warnings: list[str] = []
    growth: (
        Annotated[Autogrow, Field(description="of a project's quota that grows by itself, if `resource` is given")]
        | None
    ) = None
    origin: Change | None = None


class ExplanationsAnswer(Shape):
    """One for each selected resource that has a quota."""

    explanations: list[Explanation]
