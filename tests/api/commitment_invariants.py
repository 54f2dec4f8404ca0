"""What always holds of commitments, whatever was done last: compared are the rows before and after it."""

from collections import Counter, defaultdict
from contextlib import suppress

from limes.core.commitments.commitment import Status
from limes.core.selection import select
from limes.errors import LimesError
from tests.api.commitment_cloud import AZS, PROJECTS, UNKNOWN

ALLOWED = {
    Status.PLANNED: {Status.PENDING, Status.CONFIRMED, Status.EXPIRED, Status.SUPERSEDED},
    Status.PENDING: {Status.CONFIRMED, Status.EXPIRED, Status.SUPERSEDED},
    Status.CONFIRMED: {Status.EXPIRED, Status.SUPERSEDED},
    Status.SUPERSEDED: set(),
    Status.EXPIRED: set(),
}
"""Planned to confirmed is two steps, which may be made at once."""


def check_transitions(before, after):
    """No transition that there is not, and nothing changes that must not."""
    for number, one in after.items():
        old = before.get(number)
        assert old is None or one.status is old.status or one.status in ALLOWED[old.status]
        if old is not None:
            assert (one.amount, one.resource_id, one.az, one.uuid) == (
                old.amount,
                old.resource_id,
                old.az,
                old.uuid,
            )
            assert one.expires_at >= old.expires_at
            assert not (old.confirmed_at and one.confirmed_at != old.confirmed_at)
        assert (one.transfer_token is None) == (one.transfer_status == "")
        assert not one.transfer_status or one.is_confirmed


def check_capacity(cloud, before, after):
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
        for one in after.values():
            if one.resource_id == resource and one.status is Status.PENDING:
                before_it = now[one.az][one.project_id]
                committed = _committed(resource, after)[one.az, one.project_id] + one.amount
                increase = max(before_it, committed) - before_it
                room = capacity[one.az] - sum(now[one.az].values())
                room = min(room, whole - _overall(now)) if shares else room
                assert increase > max(0, room)


def check_lists(cloud, after):
    """Lists agree with the rows."""
    live = {one.id for one in after.values() if one.is_live and one.expires_at > cloud.now}
    everything = select(cloud.ledger.catalog)
    listed = [one.commitment for owner in PROJECTS.values() for one in cloud.cases.read.of_project(*owner, everything)]
    assert {one.id for one in listed} == live
    public = {one.id for one in after.values() if one.transfer_status == "public" and one.id in live}
    assert {one.commitment.id for one in cloud.cases.read.public(everything)} == public
    for one in after.values():
        if one.transfer_token is not None:
            with suppress(LimesError):
                assert cloud.cases.read.by_token(one.transfer_token).commitment.id == one.id


def _committed(resource, commitments):
    """What is confirmed, by AZ and project."""
    committed: Counter[tuple[str, int]] = Counter()
    for one in commitments.values():
        if one.is_confirmed and one.resource_id == resource:
            committed[one.az, one.project_id] += one.amount
    return committed


def _claims(resource, usage, commitments):
    """By AZ and project: what is committed to or used, whichever is more. In unknown AZs what is used."""
    committed = _committed(resource, commitments)
    claims: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for az, project in {*committed, *usage}:
        claims[az][project] = max(committed[az, project], usage.get((az, project), 0))
    return claims


def _overall(claims):
    return sum(amount for by_project in claims.values() for amount in by_project.values())
