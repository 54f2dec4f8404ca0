"""Request bodies about quotas: frozen types, which pydantic reads from JSON and the OpenAPI document describes.

Lenient where the original is: unknown keys, `null` and `{}` are accepted, and a repeated service or resource replaces
the earlier one. Strict where a mistake would change a quota: a missing amount is not zero.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field, StrictBool, StrictInt, StrictStr, model_validator
from pydantic_core import PydanticCustomError

from limes.api.bodies import Amount, OfDomain, OfProject, OfService, UnitName
from limes.catalog.catalog import Ref
from limes.kernel.errors import Unprocessable
from limes.quota import rules, temporary
from limes.quota.changes import QuotaChange
from limes.web.call import RequestBody


class ResourceBody(RequestBody):
    """A wanted quota. No unit, `null` or `UNSPECIFIED` mean the resource's own; the empty string means "counted"."""

    name: StrictStr
    quota: Amount
    unit: UnitName = None

    @property
    def term(self) -> temporary.Term:
        return temporary.ALWAYS


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
            description="whether an existing temporary quota keeps its end; without it, a quota that changes has"
            " none, and one that stays the same keeps it"
        ),
    ] = None

    @property
    def term(self) -> temporary.Term:
        return temporary.Term(self.until, self.starts_at, self.keep_until)


class ServiceBody(OfService[ResourceBody]):
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


class DomainQuotaBody(OfDomain[DomainScopeBody]):
    """The document of PUT and simulate-put of a domain."""


class ProjectScopeBody(DomainScopeBody):
    """What is wanted of a project: quotas or bursting."""

    bursting: BurstingBody | None = None


class ProjectQuotaBody(OfProject[ProjectScopeBody]):
    """The document of PUT and simulate-put of a project."""


def quota_changes(services: Iterable[ServiceBody]) -> list[QuotaChange]:
    """Returns the wanted quotas. If a service or resource is repeated, the last one counts."""
    changes = {}
    for service in {service.type: service for service in services}.values():
        for resource in service.resources or ():
            ref = (service.type, resource.name)
            changes[ref] = QuotaChange(ref, resource.quota, resource.unit, resource.term)
    return list(changes.values())


def changes_with_set(
    sets: Mapping[str, rules.QuotaSet], name: str | None, services: Iterable[ServiceBody]
) -> tuple[list[QuotaChange], frozenset[Ref]]:
    """Returns the wanted quotas, and which of them come from the set of that name. Quotas that the request names itself
    win. Raises `Unprocessable` if there is no such set."""
    named = quota_changes(services)
    if name is None:
        return named, frozenset()
    if (found := sets.get(name)) is None:
        known = f"the quota sets of this cloud are {', '.join(sets)}" if sets else "this cloud has none"
        raise Unprocessable(f"there is no quota set {name!r}: {known}")
    of_set = found.quotas.keys() - {change.ref for change in named}
    return [*(QuotaChange(ref, found.quotas[ref]) for ref in found.quotas if ref in of_set), *named], frozenset(of_set)
