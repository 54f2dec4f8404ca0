"""Domains."""

from typing import NamedTuple

from limes.db.models import Domain
from limes.db.query import Node, first, rows


class DomainRow(NamedTuple):
    id: int
    uuid: str
    name: str


_SELECT = Domain.select(Domain.id, Domain.uuid, Domain.name)


@first(DomainRow)
def domain(uuid: str) -> Node:
    return _SELECT.where(Domain.uuid == uuid)


@rows(DomainRow)
def domains(limit: int | None = None, marker: str = "") -> Node:
    """All domains, or a `Page` of them, in the order of their UUIDs."""
    query = _SELECT.order_by(Domain.uuid)
    return query if limit is None else query.where(Domain.uuid > marker).limit(limit)
