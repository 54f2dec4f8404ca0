"""Request bodies about how far quota grows by itself."""

from pydantic import StrictBool, StrictStr

from limes.api.bodies import Amount, OfDomain, OfProject, OfScope, OfService, UnitName
from limes.autogrow.set_bounds import WantedBound
from limes.web.call import RequestBody


class MaxQuotaResourceBody(RequestBody):
    """How far quota may grow by itself: `null` for no limit. The unit is as in `ResourceBody`."""

    name: StrictStr
    max_quota: Amount | None
    unit: UnitName = None

    def bound(self, service_type: str) -> WantedBound:
        return WantedBound((service_type, self.name), self.max_quota, self.unit)


class MaxQuotaServiceBody(OfService[MaxQuotaResourceBody]):
    """Wanted limits of a service."""


class MaxQuotaScopeBody(OfScope[MaxQuotaServiceBody]):
    """Wanted limits of a project, or of each project of a domain."""


class ProjectMaxQuotaBody(OfProject[MaxQuotaScopeBody]):
    """The document of PUT max-quota of a project."""


class DomainMaxQuotaBody(OfDomain[MaxQuotaScopeBody]):
    """The document of PUT max-quota of a domain."""


class MinQuotaResourceBody(RequestBody):
    """What is granted of quota that grows by itself: `null` for nothing. The unit is as in `ResourceBody`."""

    name: StrictStr
    min_quota: Amount | None
    unit: UnitName = None

    def bound(self, service_type: str) -> WantedBound:
        return WantedBound((service_type, self.name), self.min_quota, self.unit)


class MinQuotaServiceBody(OfService[MinQuotaResourceBody]):
    """What is granted of a service."""


class MinQuotaScopeBody(OfScope[MinQuotaServiceBody]):
    """What is granted to a project."""


class ProjectMinQuotaBody(OfProject[MinQuotaScopeBody]):
    """The document of PUT min-quota of a project."""


class ForbidAutogrowthResourceBody(RequestBody):
    """Whether quota is to be only what usage and commitments need."""

    name: StrictStr
    forbid_autogrowth: StrictBool

    def bound(self, service_type: str) -> WantedBound:
        return WantedBound((service_type, self.name), int(self.forbid_autogrowth))


class ForbidAutogrowthServiceBody(OfService[ForbidAutogrowthResourceBody]):
    """The same for resources of a service."""


class ForbidAutogrowthScopeBody(OfScope[ForbidAutogrowthServiceBody]):
    """The same for a project, or for each project of a domain."""


class ProjectForbidAutogrowthBody(OfProject[ForbidAutogrowthScopeBody]):
    """The document of PUT forbid-autogrowth of a project."""


class DomainForbidAutogrowthBody(OfDomain[ForbidAutogrowthScopeBody]):
    """The document of PUT forbid-autogrowth of a domain."""


def wanted_bounds(scope: MaxQuotaScopeBody | MinQuotaScopeBody | ForbidAutogrowthScopeBody | None) -> list[WantedBound]:
    """Returns the wanted bounds. If a service or resource is repeated, the last one counts."""
    services = scope.services if scope is not None else ()
    last: dict[str, MaxQuotaServiceBody | MinQuotaServiceBody | ForbidAutogrowthServiceBody] = {
        service.type: service for service in services or ()
    }
    bounds = [resource.bound(service.type) for service in last.values() for resource in service.resources or ()]
    return list({bound.ref: bound for bound in bounds}.values())
