"""When a wanted amount could be confirmed, and what blocks it."""

from dataclasses import dataclass

from limes.actions.commitments.ledger import Ledger
from limes.actions.lookup import find_project
from limes.core.commitments.plan import Plan, Want, make_plan
from limes.core.commitments.request import CommitmentRequest, check_request
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import commitments as queries


@dataclass(frozen=True, slots=True)
class PlanCommitment:
    """The use case."""

    ledger: Ledger

    def run(self, domain_uuid: str, project_uuid: str, request: CommitmentRequest) -> Plan:
        """Reads all that is known of the resource. Raises `NotFound`, `NotReady`, `BadRequest` and `Unprocessable`.

        Not before `confirm_by` and the earliest date for the resource, if there are such.
        """
        ledger = self.ledger
        behavior = check_request(request, ledger.catalog)

        def read() -> Plan:
            project = find_project(ledger.engine, domain_uuid, project_uuid)
            resource_id = catalog_queries.resource_ids(ledger.engine)[request.ref]
            ledger.require_committable(project.id, resource_id, request.ref)
            now = ledger.now()
            live = ledger.without_forbidden(resource_id, queries.live_in(ledger.engine, resource_id))
            azs, projects = {one.az for one in live}, {one.project_id for one in live}
            tally = ledger.tally(request.ref, resource_id, azs | {request.az}, projects | {project.id}, now)
            earliest = max(request.confirm_by or 0.0, behavior.commitment_min_confirm_date or 0.0)
            return make_plan(tally, live, Want(request.az, project.id, request.amount, earliest), now)

        return ledger.engine.snapshot(read)
