"""Converts commitments and recent usage of the Go Limes to ours."""

import uuid
from collections.abc import Collection
from itertools import pairwise
from typing import Any

import orjson

from limes.app.importer.source import CommitmentRow
from limes.commitments.commitment import Commitment, DurationError, Status, parse_duration
from limes.kernel import errors, system
from limes.usage.recent import UsageChange, add_change

_ENDED = (Status.SUPERSEDED, Status.EXPIRED)


def convert_commitment(
    row: CommitmentRow,
    project: tuple[int, str],
    resource_id: int,
    known: Collection[int],
    now: float,
    ids: system.IdSource,
) -> Commitment:
    """Returns the same commitment under the same number. `project` is our id and the UUID of its project, `known` are
    the numbers imported before it. A commitment without a UUID, as in early releases, gets one that is the same in each
    import. Raises `ConfigError` if it cannot be stored as it is."""
    status = status_of(row, now)
    transfer_status, token = row.transfer_status, row.transfer_token
    if status in _ENDED or not (transfer_status or token):
        transfer_status, token = "", None
    else:
        transfer_status, token = transfer_status or "unlisted", token or ids.token()
    try:
        duration = str(parse_duration(row.duration))
    except DurationError as error:
        raise errors.ConfigError([f"commitment {row.id}: {error}"]) from None
    if row.amount <= 0 or row.expires_at <= row.created_at:
        raise errors.ConfigError([f"commitment {row.id}: its amount is not above zero, or it ends before it begins"])
    return Commitment(
        id=row.id,
        uuid=row.uuid or str(uuid.uuid5(uuid.NAMESPACE_URL, f"limes:commitment:{project[1]}:{row.id}")),
        project_id=project[0],
        resource_id=resource_id,
        az=row.az,
        amount=row.amount,
        duration=duration,
        status=status,
        created_at=row.created_at,
        creator_uuid=row.creator_uuid,
        creator_name=row.creator_name,
        confirm_by=row.confirm_by,
        confirmed_at=row.confirmed_at,
        expires_at=row.expires_at,
        superseded_at=row.superseded_at,
        predecessor_id=row.predecessor if row.predecessor in known else None,
        transfer_status=transfer_status,
        transfer_token=token,
    )


def status_of(row: CommitmentRow, now: float) -> Status:
    """Returns the status by the commitment's times: the source's own may be outdated, or missing after a split. A
    commitment that has ended, but that the source does not call expired yet, is left to our collector, which writes the
    event."""
    if row.superseded_at is not None:
        return Status.SUPERSEDED
    if row.state == "expired":
        return Status.EXPIRED
    if row.confirmed_at is not None:
        return Status.CONFIRMED
    return Status.PLANNED if row.confirm_by is not None and row.confirm_by > now else Status.PENDING


class UnreadableHistory(ValueError):
    """The document is not what the Go Limes writes."""


def convert_history(document: str, usage: int, now: float, retention: float) -> list[UsageChange]:
    """Returns how usage has changed within the retention period (seconds), up to the present usage. There it is a JSON
    document with times `t` (seconds since the epoch) and values `v`. Each value was the usage from its time until the
    next one. Raises `UnreadableHistory`."""
    changes: list[UsageChange] = []
    for (_, before), (when, after) in pairwise([*_points(document), (now, usage)]):
        if before != after and when >= now - retention:
            changes = add_change(changes, min(when, now), before, after, retention)
    return changes


def _points(document: str) -> list[tuple[float, int]]:
    try:
        found: Any = orjson.loads(document or "{}")
        times, values = found.get("t", []), found.get("v", [])
        points = [(float(time), value) for time, value in zip(times, values, strict=True)]
    except (ValueError, TypeError, AttributeError) as error:
        raise UnreadableHistory(str(error)) from None
    are_amounts = all(type(value) is int and 0 <= value < 2**63 for value in values)
    if not are_amounts or any(earlier[0] >= later[0] for earlier, later in pairwise(points)):
        raise UnreadableHistory("times have to go up, and values have to be amounts")
    return points
