"""Conditions of queries on commitments."""

from typing import Any

from peewee import fn

from limes.commitments.commitment import LIVE
from limes.commitments.models import Commitment


def renews_itself(commitment: Any) -> Any:
    """The condition that nobody needs to act before a commitment's end."""
    return commitment.auto_renews & (commitment.renewal_error == "")


def was_renewed(commitment: Any) -> Any:
    following = Commitment.alias("following")
    is_live = following.status.in_(["planned", "pending", "confirmed"])
    return fn.EXISTS(following.select(following.id).where(following.predecessor == commitment.id, is_live))


IS_LIVE = Commitment.status.in_(sorted(status.value for status in LIVE))
