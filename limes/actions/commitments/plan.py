"""When a wanted amount could be confirmed, and what blocks it."""

from dataclasses import dataclass

from limes.actions.commitments.ledger import Ledger
from limes.actions.reports.projects import find_project
from limes.core.catalog import ANY_AZ
from limes.core.commitment_plan import Plan, make_plan
from limes.core.commitment_request import CommitmentRequest, check_request
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import commitments as queries


@dataclass(frozen=True, slots=True)
class PlanCommitment:
    """The use case."""

    ledger: Ledger

    def run(self, domain_uuid: str, project_uuid: str, request: CommitmentRequest) -> Plan:
        """Reads all that is known of the resource in the AZ. Raises `NotFound`, `BadRequest` and `Unprocessable`.

        Not before `confirm_by` and the earliest date for the resource, if there are such.
        """
        ledger = self.ledger
        behavior = check_request(request, ledger.catalog)

        def read() -> Plan:
            project = find_project(ledger.engine, domain_uuid, project_uuid)
            resource_id = catalog_queries.resource_ids(ledger.engine)[request.ref]
            now = ledger.now()
            az = None if request.az == ANY_AZ else request.az
            live = queries.live_in(ledger.engine, resource_id, az)
            projects = {project.id, *(one.project_id for one in live)}
            balance = ledger.balance(request.ref, resource_id, request.az, projects, now)
            earliest = max(request.confirm_by or 0.0, behavior.commitment_min_confirm_date or 0.0)
            return make_plan(balance, live, project.id, request.amount, now, earliest)

        return ledger.engine.snapshot(read)
