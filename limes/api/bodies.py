"""Request bodies: frozen types, which pydantic reads from JSON and the OpenAPI document describes.

Lenient where the original is: unknown keys, `null` and `{}` are accepted, and a repeated service or resource replaces
the earlier one. Strict where a mistake would change a quota or a commitment: a missing amount is not zero.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, Field, StrictBool, StrictInt, StrictStr, model_validator
from pydantic_core import PydanticCustomError

from limes.actions.commitments.reshape import Conversion
from limes.actions.quota_changes import QuotaChange
from limes.actions.set_autogrow_bounds import WantedBound
from limes.core.catalog import Ref
from limes.core.commitments.rules import CommitmentRequest
from limes.core.quota import QuotaSet
from limes.core.temporary_quota import ALWAYS, Term
from limes.errors import Unprocessable
from limes.web.call import RequestBody

AnyPart = TypeVar("AnyPart", bound=RequestBody)
_Amount = Annotated[StrictInt, Field(ge=0)]
"""A negative number is no amount; the use case decides whether zero is one."""
_Unit = Annotated[StrictStr | None, AfterValidator(lambda name: None if name == "UNSPECIFIED" else name)]


class QuotaBody(RequestBody):
    """The document of PUT and simulate-put. `null` is one that changes nothing."""

    @model_validator(mode="before")
    @classmethod
    def read_null(cls, document: Any) -> Any:
        return {} if document is None else document


class ResourceBody(RequestBody):
    """A wanted quota. No unit, `null` or `UNSPECIFIED` mean the resource's own; the empty string means "counted"."""

    name: StrictStr
    quota: _Amount
    unit: _Unit = None

    @property
    def term(self) -> Term:
        return ALWAYS


class TemporaryResourceBody(ResourceBody):
    """A wanted quota, and for how long it is wanted. Times are UNIX timestamps in seconds."""

    until: Annotated[
        StrictInt | None, Field(description="when the quota goes back to what it is without this request")
    ] = None
    starts_at: Annotated[
        StrictInt | None, Field(alias="from", description="when it is raised, if not at once; goes with `until`")
    ] = None
    keep_until: Annotated[
        StrictBool | None,
        Field(
            description="whether a temporary quota that there is keeps its end; without it, a quota that changes has"
            " none, and one that stays the same keeps it"
        ),
    ] = None

    @property
    def term(self) -> Term:
        return Term(self.until, self.starts_at, self.keep_until)


class _Service(RequestBody, Generic[AnyPart]):
    type: StrictStr
    resources: tuple[AnyPart, ...] | None = None


class _Scope(RequestBody, Generic[AnyPart]):
    services: tuple[AnyPart, ...] | None = None


class _OfCommitment(RequestBody, Generic[AnyPart]):
    commitment: AnyPart


class _OfDomain(QuotaBody, Generic[AnyPart]):
    domain: AnyPart | None = None


class _OfProject(QuotaBody, Generic[AnyPart]):
    project: AnyPart | None = None


class ServiceBody(_Service[ResourceBody]):
    """Wanted quotas of a service."""


class WithoutTimes(RequestBody):
    """A part without times of its own. If they were ignored like other unknown keys, the quota would stay for ever."""

    @model_validator(mode="before")
    @classmethod
    def refuse_times(cls, document: Any) -> Any:
        for name in ("until", "from", "keep_until"):
            if isinstance(document, dict) and name in document:
                raise PydanticCustomError("misplaced", f"{name} belongs to each resource, beside its quota")
        return document


class TemporaryServiceBody(WithoutTimes, ServiceBody):
    """Wanted quotas of a service, and for how long."""

    resources: tuple[TemporaryResourceBody, ...] | None = None


class BurstingBody(RequestBody):
    """Whether bursting is wanted."""

    enabled: Annotated[bool, Field(strict=True)]


class DomainScopeBody(WithoutTimes):
    """What is wanted of a domain. Quotas in `services` win over those of the set."""

    quota_set: StrictStr | None = None
    services: tuple[TemporaryServiceBody, ...] | None = None


class DomainQuotaBody(_OfDomain[DomainScopeBody]):
    """The document of PUT and simulate-put of a domain."""


class ProjectScopeBody(DomainScopeBody):
    """What is wanted of a project: quotas or bursting."""

    bursting: BurstingBody | None = None


class ProjectQuotaBody(_OfProject[ProjectScopeBody]):
    """The document of PUT and simulate-put of a project."""


class MaxQuotaResourceBody(RequestBody):
    """How far quota may grow by itself: `null` for no limit. The unit is as in `ResourceBody`."""

    name: StrictStr
    max_quota: _Amount | None
    unit: _Unit = None

    def bound(self, service_type: str) -> WantedBound:
        return WantedBound((service_type, self.name), self.max_quota, self.unit)


class MaxQuotaServiceBody(_Service[MaxQuotaResourceBody]):
    """Wanted limits of a service."""


class MaxQuotaScopeBody(_Scope[MaxQuotaServiceBody]):
    """Wanted limits of a project, or of each project of a domain."""


class ProjectMaxQuotaBody(_OfProject[MaxQuotaScopeBody]):
    """The document of PUT max-quota of a project."""


class DomainMaxQuotaBody(_OfDomain[MaxQuotaScopeBody]):
    """The document of PUT max-quota of a domain."""


class MinQuotaResourceBody(RequestBody):
    """What is granted of quota that grows by itself: `null` for nothing. The unit is as in `ResourceBody`."""

    name: StrictStr
    min_quota: _Amount | None
    unit: _Unit = None

    def bound(self, service_type: str) -> WantedBound:
        return WantedBound((service_type, self.name), self.min_quota, self.unit)


class MinQuotaServiceBody(_Service[MinQuotaResourceBody]):
    """What is granted of a service."""


class MinQuotaScopeBody(_Scope[MinQuotaServiceBody]):
    """What is granted to a project."""


class ProjectMinQuotaBody(_OfProject[MinQuotaScopeBody]):
    """The document of PUT min-quota of a project."""


class ForbidAutogrowthResourceBody(RequestBody):
    """Whether quota is to be only what usage and commitments need."""

    name: StrictStr
    forbid_autogrowth: StrictBool

    def bound(self, service_type: str) -> WantedBound:
        return WantedBound((service_type, self.name), int(self.forbid_autogrowth))


class ForbidAutogrowthServiceBody(_Service[ForbidAutogrowthResourceBody]):
    """The same for resources of a service."""


class ForbidAutogrowthScopeBody(_Scope[ForbidAutogrowthServiceBody]):
    """The same for a project, or for each project of a domain."""


class ProjectForbidAutogrowthBody(_OfProject[ForbidAutogrowthScopeBody]):
    """The document of PUT forbid-autogrowth of a project."""


class DomainForbidAutogrowthBody(_OfDomain[ForbidAutogrowthScopeBody]):
    """The document of PUT forbid-autogrowth of a domain."""


def wanted_bounds(scope: MaxQuotaScopeBody | MinQuotaScopeBody | ForbidAutogrowthScopeBody | None) -> list[WantedBound]:
    """Returns the wanted bounds. If a service or resource is repeated, the last one counts."""
    services = scope.services if scope is not None else ()
    last: dict[str, MaxQuotaServiceBody | MinQuotaServiceBody | ForbidAutogrowthServiceBody] = {
        service.type: service for service in services or ()
    }
    bounds = [resource.bound(service.type) for service in last.values() for resource in service.resources or ()]
    return list({bound.ref: bound for bound in bounds}.values())


def quota_changes(services: Iterable[ServiceBody]) -> list[QuotaChange]:
    """Returns the wanted quotas. If a service or resource is repeated, the last one counts."""
    changes = {}
    for service in {service.type: service for service in services}.values():
        for resource in service.resources or ():
            ref = (service.type, resource.name)
            changes[ref] = QuotaChange(ref, resource.quota, resource.unit, resource.term)
    return list(changes.values())


def changes_with_set(
    sets: Mapping[str, QuotaSet], name: str | None, services: Iterable[ServiceBody]
) -> tuple[list[QuotaChange], frozenset[Ref]]:
    """Returns the wanted quotas, and which of them come from the set of that name. Those that the request names itself
    win. Raises `Unprocessable` if there is no such set."""
    named = quota_changes(services)
    if name is None:
        return named, frozenset()
    if (found := sets.get(name)) is None:
        known = f"the quota sets of this cloud are {', '.join(sets)}" if sets else "this cloud has none"
        raise Unprocessable(f"there is no quota set {name!r}: {known}")
    of_set = found.quotas.keys() - {change.ref for change in named}
    return [*(QuotaChange(ref, found.quotas[ref]) for ref in found.quotas if ref in of_set), *named], frozenset(of_set)


class NewCommitment(RequestBody):
    """A wanted commitment."""

    service_type: StrictStr
    resource_name: StrictStr
    availability_zone: Annotated[StrictStr, Field(description="needed; a refusal names those that there are")] = ""
    amount: _Amount
    duration: StrictStr
    confirm_by: StrictInt | None = None
    auto_renew: Annotated[StrictBool, Field(description="whether it is renewed before its end")] = False

    def request(self) -> CommitmentRequest:
        ref, az = (self.service_type, self.resource_name), self.availability_zone
        return CommitmentRequest(ref, az, self.amount, self.duration, self.confirm_by, self.auto_renew)


class NewCommitmentBody(_OfCommitment[NewCommitment]):
    """The document of new and can-confirm."""


class AutoRenewal(RequestBody):
    """Whether a commitment is to be renewed before its end."""

    auto_renew: StrictBool


class AutoRenewalBody(_OfCommitment[AutoRenewal]):
    """The document to change a commitment with."""


class Transfer(RequestBody):
    """What to mark for transfer, and how public that is."""

    amount: _Amount
    transfer_status: StrictStr


class TransferBody(_OfCommitment[Transfer]):
    """The document of start-transfer."""


class MergeBody(RequestBody):
    """The document of merge."""

    commitment_ids: Annotated[tuple[StrictInt, ...], Field(max_length=1000)]


class DurationBody(RequestBody):
    """The document of update-duration."""

    duration: StrictStr


class ConversionPart(RequestBody):
    """How much of the commitment becomes how much of which resource."""

    target_service: StrictStr
    target_resource: StrictStr
    source_amount: _Amount
    target_amount: _Amount

    def conversion(self) -> Conversion:
        return Conversion((self.target_service, self.target_resource), self.source_amount, self.target_amount)


class ConversionBody(_OfCommitment[ConversionPart]):
    """The document of convert."""
