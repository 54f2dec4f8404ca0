"""How many requests for quota wait for a decision, and for how long."""

from typing import NamedTuple

from peewee import Case, fn

from limes.core.quota_requests import RequestStatus
from limes.db.compiled import compiled
from limes.db.engine import Engine
from limes.db.models import QuotaRequest


class OpenRequests(NamedTuple):
    """Open requests of one kind."""

    is_of_project: bool
    is_passed_on: bool
    """Whether they wait for the decision on a request of the domain."""
    number: int
    oldest_at: float
    """When the oldest of them was made."""


_ABOVE = QuotaRequest.alias()
_IS_OPEN = QuotaRequest.status == RequestStatus.OPEN.value
_PASSED_ON = _ABOVE.select(_ABOVE.passed_on_from).where(
    _ABOVE.passed_on_from.is_null(False), _ABOVE.status == RequestStatus.OPEN.value
)
_IS_OF_PROJECT = Case(None, [(QuotaRequest.project.is_null(), 0)], 1)
_IS_PASSED_ON = Case(None, [(QuotaRequest.id.in_(_PASSED_ON), 1)], 0)
_OPEN = compiled(
    lambda p: (
        QuotaRequest.select(
            _IS_OF_PROJECT.alias("is_of_project"),
            _IS_PASSED_ON.alias("is_passed_on"),
            fn.COUNT(QuotaRequest.id),
            fn.MIN(QuotaRequest.created_at),
        )
        .where(_IS_OPEN)
        .group_by(_IS_OF_PROJECT, _IS_PASSED_ON)
    )
)


def open_requests(engine: Engine) -> list[OpenRequests]:
    """Returns all kinds that there are."""
    return [
        OpenRequests(bool(of_project), bool(passed_on), int(number), oldest)
        for of_project, passed_on, number, oldest in engine.tuples(_OPEN)
    ]
