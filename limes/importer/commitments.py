"""Converts commitments of the Go Limes to ours."""

import uuid
from collections.abc import Collection

from limes.core.commitments.commitment import Commitment, DurationError, Status, parse_duration
from limes.errors import ConfigError
from limes.importer.source import CommitmentRow
from limes.system import IdSource

_ENDED = (Status.SUPERSEDED, Status.EXPIRED)


def convert(
    row: CommitmentRow, project: tuple[int, str], resource_id: int, known: Collection[int], now: float, ids: IdSource
) -> Commitment:
    """Returns the same commitment under the same number. `project` is our id and the UUID of its project, `known` are
    the numbers imported before it.

    A commitment without a UUID, as in early releases, gets one that is the same in each import. Raises `ConfigError` if
    it cannot be stored as it is.
    """
    status = status_of(row, now)
    transfer_status, token = row.transfer_status, row.transfer_token
    if status in _ENDED or not (transfer_status or token):
        transfer_status, token = "", None
    else:
        transfer_status, token = transfer_status or "unlisted", token or ids.token()
    try:
        duration = str(parse_duration(row.duration))
    except DurationError as error:
        raise ConfigError([f"commitment {row.id}: {error}"]) from None
    if row.amount <= 0 or row.expires_at <= row.created_at:
        raise ConfigError([f"commitment {row.id}: its amount is not above zero, or it ends before it begins"])
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
    """Returns the status by the commitment's times: the source's own may be outdated, or missing after a split.

    A commitment that has ended, but that the source does not call expired yet, is left to our collector, which writes
    the event.
    """
    if row.superseded_at is not None:
        return Status.SUPERSEDED
    if row.state == "expired":
        return Status.EXPIRED
    if row.confirmed_at is not None:
        return Status.CONFIRMED
    return Status.PLANNED if row.confirm_by is not None and row.confirm_by > now else Status.PENDING
