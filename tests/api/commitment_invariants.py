"""What always holds of commitments, whatever was done last: compared are the rows before and after it."""

from collections import Counter
from contextlib import suppress

from limes.core.commitments import Status
from limes.core.committable import Balance
from limes.core.selection import select
from limes.errors import LimesError
from tests.api.commitment_cloud import PROJECTS

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
    """Never oversold, and nobody waits for what is there."""
    for place, capacity, usage in cloud.figures():
        balance = _balance(capacity, usage, place, after)
        was = _balance(capacity, usage, place, before)  # with the usage and capacity of now
        assert balance.claimed <= max(capacity, was.claimed)
        for one in after.values():
            if (one.resource_id, one.az) == place and one.status is Status.PENDING:
                assert not balance.allows(one.project_id, one.amount)


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


def _balance(capacity, usage, place, commitments):
    """As the decision sees it, but counted by hand."""
    committed: Counter[int] = Counter()
    for one in commitments.values():
        if one.is_confirmed and (one.resource_id, one.az) == place:
            committed[one.project_id] += one.amount
    return Balance(capacity, sum(usage.values()), dict(committed), usage)
