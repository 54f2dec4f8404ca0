"""Passes a project's request on: the domain asks the cloud admins for the quota that is missing for it."""

from collections.abc import Mapping
from dataclasses import dataclass

from limes.actions.lookup import find_domain
from limes.actions.quota_changes import PermissionSource
from limes.actions.quota_requests.desk import Desk, Place
from limes.audit.initiator import Initiator
from limes.core.catalog import Ref
from limes.core.history import What
from limes.core.quota_requests import EventKind, RequestStatus, missing_domain_quota
from limes.db.engine import Engine
from limes.db.queries import quota_requests as queries
from limes.db.queries.catalog import resource_ids
from limes.db.queries.domain_quotas import domain_quotas_by_resource
from limes.db.queries.project_quotas import project_quota_sums, project_quotas_by_name
from limes.db.queries.projects import ProjectRow
from limes.db.queries.quota_requests import AmountRow, NewRequest
from limes.db.transactions import atomic
from limes.errors import Conflict, Forbidden


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The quotas around a project, by resource."""

    domain: Mapping[Ref, int]
    others: Mapping[Ref, int]
    """Of all other projects in the domain together."""
    own: Mapping[Ref, int]


def read_hierarchy(engine: Engine, project: ProjectRow, ids: Mapping[Ref, int]) -> Hierarchy:
    """Returns the quotas around a project, for resources that are given with their ids. Inside a transaction."""
    resources = sorted(ids.values())
    sums = project_quota_sums(engine, project.domain_id, resources)
    domain = domain_quotas_by_resource(engine, resources, [project.domain_id])
    rows = project_quotas_by_name(engine, project.id, lock=False)
    own = {ref: (rows[ref].quota or 0) if ref in rows else 0 for ref in ids}
    return Hierarchy(
        domain={ref: domain.get((project.domain_id, id_), 0) for ref, id_ in ids.items()},
        others={ref: sums.get(id_, 0) - own[ref] for ref, id_ in ids.items()},
        own=own,
    )


@dataclass(frozen=True, slots=True)
class PassOnRequest:
    desk: Desk

    @property
    def engine(self) -> Engine:
        """For `limes.db.transactions`."""
        return self.desk.engine

    @atomic
    def run(
        self, place: Place, request_id: int, comment: str, permissions: PermissionSource, initiator: Initiator
    ) -> int:
        """Makes a request of the domain and returns its number. Its approval will approve the project's, too.

        Raises `NotFound`, `Forbidden`, and `Conflict` if the project's is not open, has been passed on, or fits.
        """
        desk = self.desk
        domain = find_domain(desk.engine, place.domain_uuid)
        desk.admit(domain.id, None)
        locked = desk.lock(place, request_id)
        project, origin = locked.target, locked.request
        assert isinstance(project, ProjectRow)
        for above in queries.lock_passed_on(desk.engine, [origin.id]):
            raise Conflict(f"quota request {origin.id} has been passed on already, as quota request {above.id}")
        rows = self._missing(project, origin.id, permissions)
        reason = comment or f"for quota request {origin.id} of project {project.name}"
        new = NewRequest(
            domain.id, None, RequestStatus.OPEN, reason, desk.now(), initiator.id, initiator.name, origin.id,
            until=origin.until,
        )  # fmt: skip
        id_ = queries.insert(desk.engine, new)
        queries.add_amounts(desk.engine, [row._replace(request_id=id_) for row in rows])
        wanted = {"/".join(row.ref): row.wanted for row in rows}
        desk.record(project, [origin.id], EventKind.PASSED_ON, comment, initiator, passed_on_to=id_)
        desk.record(
            domain, [id_], EventKind.OPENED, "", initiator, reason=reason, wanted=wanted, passed_on_from=origin.id
        )
        desk.announce_opened(id_)
        return id_

    def _missing(self, project: ProjectRow, request_id: int, permissions: PermissionSource) -> list[AmountRow]:
        engine = self.desk.engine
        wanted = {
            row.ref: row.wanted
            for row in queries.amounts_of(engine, [request_id])[request_id]
            if row.what == What.QUOTA.value
        }
        if not wanted:
            raise Conflict(
                f"quota request {request_id} asks for quota that grows by itself, which comes from no domain: cloud"
                " admins can approve it where it is"
            )
        # whoever passes it on agrees to it: the approval above is the last one
        if not all(permissions(ref).can_raise for ref in wanted):
            raise Forbidden("Forbidden")
        all_ids = resource_ids(engine)
        around = read_hierarchy(engine, project, {ref: all_ids[ref] for ref in wanted})
        missing = missing_domain_quota(wanted, around.domain, around.others)
        if not missing:
            raise Conflict(f"quota request {request_id} fits into the domain's quota: it can be approved")
        return [
            AmountRow(0, *ref, What.QUOTA.value, around.domain[ref], amount, None)
            for ref, amount in sorted(missing.items())
        ]
