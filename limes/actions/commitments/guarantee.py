"""Warnings for those who commit to more than their quota lets them use. What they ask for is done all the same."""

from dataclasses import dataclass, replace

from limes.actions.commitments.ledger import Described, Ledger
from limes.actions.lookup import find_project
from limes.core.catalog import Ref
from limes.core.commitments.request import CommitmentRequest, beyond_quota
from limes.core.units import Unit
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import commitments as queries
from limes.db.queries.project_quotas import project_quotas_by_resource


def with_warnings(ledger: Ledger, made: Described) -> Described:
    """A commitment that was just made or taken, with the warnings. Inside the transaction that has stored it."""
    commitment = made.commitment
    start = max(ledger.now(), commitment.starts_at)
    found = _warnings(ledger, commitment.project_id, commitment.resource_id, made.ref, made.unit, start, 0)
    return replace(made, warnings=found)


@dataclass(frozen=True, slots=True)
class WarnBefore:
    """The use case: what would be said of a commitment that is only wanted yet."""

    ledger: Ledger

    def run(self, domain_uuid: str, project_uuid: str, request: CommitmentRequest) -> tuple[str, ...]:
        """The request was checked before. Raises `NotFound`."""
        ledger = self.ledger

        def read() -> tuple[str, ...]:
            project = find_project(ledger.engine, domain_uuid, project_uuid)
            resource_id = catalog_queries.resource_ids(ledger.engine)[request.ref]
            resource = ledger.catalog.find(request.ref)
            unit = resource.unit if resource else Unit.COUNT
            start = max(ledger.now(), float(request.confirm_by or 0))
            return _warnings(ledger, project.id, resource_id, request.ref, unit, start, request.amount)

        return ledger.engine.snapshot(read)


def _warnings(
    ledger: Ledger, project_id: int, resource_id: int, ref: Ref, unit: Unit, start: float, more: int
) -> tuple[str, ...]:
    """From the commitments that hold when the one in question begins, and `more`."""
    row = project_quotas_by_resource(ledger.engine, project_id, [resource_id]).get(resource_id)
    held = queries.amount_held_at(ledger.engine, project_id, resource_id, start)
    text = beyond_quota(ref, unit, held + more, row.quota if row else None)
    return () if text is None else (text,)
