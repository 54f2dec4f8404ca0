"""How many requests for quota wait for a decision, and for how long."""

from typing import NamedTuple

from peewee import Case, fn

from limes.core.quota_requests import RequestStatus
from limes.db.models import QuotaRequest
from limes.db.query import Node, made


class OpenRequests(NamedTuple):
    """Open requests of one kind."""

    is_of_project: bool
    is_passed_on: bool
    """Whether they wait for the decision on a request of the domain."""
    number: int
    oldest_at: float
    """When the oldest of them was made."""


def _open_requests(of_project: int, passed_on: int, number: int, oldest_at: float) -> OpenRequests:
    return OpenRequests(bool(of_project), bool(passed_on), number, oldest_at)


@made(_open_requests, int, int, int, float)
def open_requests() -> Node:
    """All kinds that there are."""
    row, above = QuotaRequest, QuotaRequest.alias()
    above_is_open = (above.passed_on_from.is_null(False), above.status == RequestStatus.OPEN.value)
    passed_on = above.select(above.passed_on_from).where(*above_is_open)
    is_of_project = Case(None, [(row.project.is_null(), 0)], 1)
    is_passed_on = Case(None, [(row.id.in_(passed_on), 1)], 0)
    kind = (is_of_project.alias("is_of_project"), is_passed_on.alias("is_passed_on"))
    query = row.select(*kind, fn.COUNT(row.id), fn.MIN(row.created_at)).where(row.status == RequestStatus.OPEN.value)
    return query.group_by(is_of_project, is_passed_on)
