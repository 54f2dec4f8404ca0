"""What must be true of the rows once the clients of several hosts have stopped."""

from tests.concurrency.placement_fleet import OVERUSED, WITHOUT_ALLOCATIONS
from tests.faults.house import eventually
from tests.hosts.clients import Clients
from tests.hosts.hosts import CAPACITY, Cloud
from tests.placement.world import uuid_of

_QUOTAS = """
SELECT p.uuid, pr.quota FROM project_resources pr JOIN projects p ON p.id = pr.project_id
JOIN resources r ON r.id = pr.resource_id WHERE r.name = 'cores'"""
_COMMITMENTS = """
SELECT c.id, p.uuid FROM project_commitments c JOIN projects p ON p.id = c.project_id WHERE c.status = 'confirmed'"""
_CLAIMED = """
SELECT SUM(GREATEST(az.usage, COALESCE(c.amount, 0))) FROM project_az_resources az
JOIN resources r ON r.id = az.resource_id AND r.name = 'cores'
LEFT JOIN (SELECT project_id, SUM(amount) AS amount FROM project_commitments WHERE status = 'confirmed'
           GROUP BY project_id) c ON c.project_id = az.project_id
WHERE az.az = 'az-one'"""
_ALLOCATIONS = """
SELECT c.uuid, SUM(a.used) FROM placement_allocations a JOIN placement_consumers c ON c.id = a.consumer_id
GROUP BY c.uuid"""
_EVENTS = "SELECT COUNT(*), COUNT(DISTINCT number), MAX(number) FROM commitment_events"
_PENDING = "SELECT 1 FROM project_services WHERE quota_desynced_at IS NOT NULL"


def check_nothing_is_lost(clients: Clients) -> None:
    """What was acknowledged is there, and what is there was asked for."""
    rows = clients.cloud.rows
    stored = dict(rows(_QUOTAS))
    assert {project: stored[project] for project, may in clients.quotas.items() if stored[project] not in may} == {}
    assert clients.quotas
    commitments = dict(rows(_COMMITMENTS))
    assert clients.committed.items() <= commitments.items()
    assert len(commitments) <= len(clients.committed) + clients.unknown_commitments
    allocated = dict(rows(_ALLOCATIONS))
    may_have = {uuid_of(name): amounts for name, amounts in clients.allocated.items()}
    assert {uuid: may for uuid, may in may_have.items() if allocated.get(uuid, 0) not in may} == {}
    assert allocated.keys() <= may_have.keys()


def check_nothing_is_oversold(cloud: Cloud) -> None:
    """Neither capacity nor inventories; and each event of a commitment has a number of its own, without gaps."""
    assert cloud.rows(_CLAIMED)[0][0] <= CAPACITY
    assert cloud.rows(OVERUSED) == []
    assert cloud.rows(WITHOUT_ALLOCATIONS) == []
    assert len(set(cloud.rows(_EVENTS)[0])) == 1


def check_backends(cloud: Cloud) -> None:
    """Backends enforce what the database says, and no two writers have contradicted each other."""
    check_backends_in_the_end(cloud)
    assert cloud.backend.contradictions() == []


def check_backends_in_the_end(cloud: Cloud) -> None:
    """Backends enforce what the database says, whatever was written to them before."""
    eventually("all quota is written", lambda: not cloud.rows(_PENDING))
    stored = dict(cloud.rows(_QUOTAS))

    def enforced() -> dict[str, int]:
        return {project: quotas["cores"] for (_, project), quotas in cloud.backend.quotas.items()}

    eventually("backends enforce it", lambda: enforced() == stored)
