"""Domains."""

from typing import NamedTuple

from limes.core.selection import Page
from limes.db.compiled import compiled
from limes.db.engine import Engine
from limes.db.models import Domain


class DomainRow(NamedTuple):
    """A domain."""

    id: int
    uuid: str
    name: str


_COLUMNS = (Domain.id, Domain.uuid, Domain.name)
_DOMAIN = compiled(lambda p: Domain.select(*_COLUMNS).where(Domain.uuid == p.uuid))
_ALL = compiled(lambda p: Domain.select(*_COLUMNS).order_by(Domain.uuid))
_PAGE = compiled(lambda p: Domain.select(*_COLUMNS).where(Domain.uuid > p.marker).order_by(Domain.uuid).limit(p.limit))


def domain(engine: Engine, uuid: str) -> DomainRow | None:
    """Returns the domain of that UUID."""
    return engine.first(_DOMAIN, DomainRow, uuid=uuid)


def domains(engine: Engine, page: Page | None = None) -> list[DomainRow]:
    """Returns all domains, or one page of them, in the order of their UUIDs."""
    if page is None:
        return engine.all(_ALL, DomainRow)
    return engine.all(_PAGE, DomainRow, marker=page.marker, limit=page.limit)
