"""All use cases of quota requests that the API offers."""

from collections.abc import Sequence
from dataclasses import dataclass

from limes.actions.quota_requests.announce import Announce
from limes.actions.quota_requests.ask import AskForQuota
from limes.actions.quota_requests.decide import DecideOnRequest
from limes.actions.quota_requests.desk import Desk
from limes.actions.quota_requests.pass_on import PassOnRequest
from limes.actions.quota_requests.read import ReadRequests
from limes.actions.set_autogrow_bounds import SetAutogrowBounds
from limes.actions.set_domain_quota import SetDomainQuota
from limes.actions.set_project_quota import SetProjectQuota
from limes.core.quota_requests import AutoApprovalRule


@dataclass(frozen=True, slots=True)
class QuotaRequestUseCases:
    """A field for each class of use cases."""

    ask: AskForQuota
    read: ReadRequests
    decide: DecideOnRequest
    pass_on: PassOnRequest

    @classmethod
    def build(
        cls,
        set_project_quota: SetProjectQuota,
        set_domain_quota: SetDomainQuota,
        set_autogrow_bounds: SetAutogrowBounds,
        rules: Sequence[AutoApprovalRule] = (),
        announce: Announce | None = None,
        at_most_per_day: int = 100,
        at_most_per_day_in_domain: int = 1000,
    ) -> "QuotaRequestUseCases":
        """Returns all of them, on the use cases that set what is granted."""
        desk = Desk(
            engine=set_project_quota.engine,
            catalog=set_project_quota.catalog,
            clock=set_project_quota.clock,
            change_log=set_project_quota.change_log,
            set_project_quota=set_project_quota,
            set_domain_quota=set_domain_quota,
            set_autogrow_bounds=set_autogrow_bounds,
            rules=rules,
            announce=announce,
            at_most_per_day=at_most_per_day,
            at_most_per_day_in_domain=at_most_per_day_in_domain,
        )
        return cls(
            ask=AskForQuota(desk), read=ReadRequests(desk), decide=DecideOnRequest(desk), pass_on=PassOnRequest(desk)
        )
