"""A commitment as the API and the events show it. One place, so that the two cannot differ."""

from typing import Any

from limes.core.catalog import Ref
from limes.core.commitments import Commitment
from limes.core.units import Unit


def describe(commitment: Commitment, ref: Ref, unit: Unit, *, with_token: bool = False) -> dict[str, Any]:
    """The object of the API document; fields that do not apply are left out. Times are whole seconds.

    Beyond the document's table: `uuid`, `status`, `creator_uuid`, `creator_name` and `transfer_status`, which clients
    of the original need, and `requested_at`, which the document's examples show, with the value of `created_at`.
    The transfer token is a secret, so it is only there if asked for.
    """
    document: dict[str, Any] = {
        "id": commitment.id,
        "uuid": commitment.uuid,
        "service_type": ref[0],
        "resource_name": ref[1],
        "availability_zone": commitment.az,
        "amount": commitment.amount,
        "unit": unit.value or None,
        "duration": commitment.duration,
        "status": commitment.status.value,
        "requested_at": int(commitment.created_at),
        "created_at": int(commitment.created_at),
        "creator_uuid": commitment.creator_uuid,
        "creator_name": commitment.creator_name,
        "confirm_by": _seconds(commitment.confirm_by),
        "confirmed_at": _seconds(commitment.confirmed_at),
        "expires_at": int(commitment.expires_at),
        "superseded_at": _seconds(commitment.superseded_at),
        "transferable": bool(commitment.transfer_status) or None,
        "transfer_status": commitment.transfer_status or None,
        "transfer_token": commitment.transfer_token if with_token else None,
    }
    return {name: value for name, value in document.items() if value is not None}


def _seconds(time: float | None) -> int | None:
    return None if time is None else int(time)
