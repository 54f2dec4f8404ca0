"""What always holds of commitments, whatever was done last: compared are the rows before and after it."""

from collections import Counter, defaultdict
from contextlib import suppress
from typing import Any

from limes.catalog.catalog import select
from limes.commitments import reading
from limes.commitments.commitment import Commitment, Status
from limes.kernel.errors import LimesError
from tests.commitments.commitment_cloud import AZS, PROJECTS, UNKNOWN, Cloud

ALLOWED = {
    Status.PLANNED: {Status.PENDING, Status.CONFIRMED, Status.EXPIRED, Status.SUPERSEDED},
    Status.PENDING: {Status.CONFIRMED, Status.EXPIRED, Status.SUPERSEDED},
    Status.CONFIRMED: {Status.EXPIRED, Status.SUPERSEDED},
    Status.SUPERSEDED: set(),
    Status.EXPIRED: set(),
}
"""Planned to confirmed is two steps, which may be made at once."""


def check_transitions(before: dict[int, Commitment], after: dict[int, Commitment]) -> None:
    """No transition that there is not, and nothing changes that must not."""
    for number, commitment in after.items():
        old = before.get(number)
        assert old is None or commitment.status is old.status or commitment.status in ALLOWED[old.status]
        if old is not None:
            assert (commitment.amount, commitment.resource_id, commitment.az, commitment.uuid) == (
                old.amount,
                old.resource_id,
                old.az,
                old.uuid,
            )
            assert commitment.expires_at >= old.expires_at
            assert not (old.confirmed_at and commitment.confirmed_at != old.confirmed_at)
        assert (commitment.transfer_token is None) == (commitment.transfer_status == "")
        assert not commitment.transfer_status or commitment.is_confirmed


def check_capacity(cloud: Cloud, before: dict[int, Commitment], after: dict[int, Commitment]) -> None:
    """Never oversold, neither in an AZ nor over all of them, and nobody waits for what is there.

    With the usage and capacity of now; counted by hand. Usage in unknown AZs has no capacity there, and counts overall.
    """
    for resource, (capacity, usage) in cloud.figures().items():
        was, now = _claims(resource, usage, before), _claims(resource, usage, after)
        for az in AZS:
            assert sum(now[az].values()) <= max(capacity[az], sum(was[az].values()))
        whole = sum(capacity.values())
        shares = any(usage.get((az, project)) for az in UNKNOWN for project in PROJECTS)
        assert not shares or _overall(now) <= max(whole, _overall(was))
        for commitment in after.values():
            if commitment.resource_id == resource and commitment.status is Status.PENDING:
                before_it = now[commitment.az][commitment.project_id]
                committed = _committed(resource, after)[commitment.az, commitment.project_id] + commitment.amount
                increase = max(before_it, committed) - before_it
                room = capacity[commitment.az] - sum(now[commitment.az].values())
                room = min(room, whole - _overall(now)) if shares else room
                assert increase > max(0, room)


def check_lists(cloud: Cloud, after: dict[int, Commitment]) -> None:
    """Lists agree with the rows."""
    live = {commitment.id for commitment in after.values() if commitment.is_live and commitment.expires_at > cloud.now}
    everything = select(cloud.limes.catalog)
    listed = [
        described.commitment
        for owner in PROJECTS.values()
        for described in reading.commitments_of_project(cloud.limes, *owner, everything)
    ]
    assert {commitment.id for commitment in listed} == live
    public = {
        commitment.id
        for commitment in after.values()
        if commitment.transfer_status == "public" and commitment.id in live
    }
    assert {described.commitment.id for described in reading.public_commitments(cloud.limes, everything)} == public
    for commitment in after.values():
        if commitment.transfer_token is not None:
            with suppress(LimesError):
                assert (
                    reading.commitment_by_token(cloud.limes, commitment.transfer_token).commitment.id == commitment.id
                )


def _committed(resource: int, commitments: dict[int, Commitment]) -> Counter[tuple[str, int]]:
    """What is confirmed, by AZ and project."""
    committed: Counter[tuple[str, int]] = Counter()
    for commitment in commitments.values():
        if commitment.is_confirmed and commitment.resource_id == resource:
            committed[commitment.az, commitment.project_id] += commitment.amount
    return committed


def _claims(
    resource: int, usage: dict[tuple[str, int], int], commitments: dict[int, Commitment]
) -> defaultdict[str, Counter[int]]:
    """By AZ and project: what is committed to or used, whichever is more. In unknown AZs what is used."""
    committed = _committed(resource, commitments)
    claims: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for az, project in {*committed, *usage}:
        claims[az][project] = max(committed[az, project], usage.get((az, project), 0))
    return claims


def _overall(claims: defaultdict[str, Counter[int]]) -> Any:
    return sum(amount for by_project in claims.values() for amount in by_project.values())
