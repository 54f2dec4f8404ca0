"""Parts that several answers share."""

from typing import Annotated, Protocol

from msgspec import field
from pydantic import Field

from limes.core.catalog import Catalog, Ref
from limes.core.temporary_quota import TemporaryState
from limes.core.units import Unit
from limes.db.queries.attention import PlacedRow
from limes.validation.shape import Amount, Shape, Time, one_of

Count = Annotated[int, Field(ge=0)]
ByDuration = Annotated[dict[str, Amount], Field(description="amounts by duration")]


class Link(Shape):
    """A link to another document."""

    rel: str
    href: str
    type: str | None = None


class Id(Shape, kw_only=False):
    """Somebody who was found in Keystone."""

    id: str


class Named(Shape, kw_only=False):
    """A domain."""

    id: str
    name: str


class PlacedNamed(Shape, kw_only=False):
    """A project, and its domain."""

    id: str
    name: str
    domain: Named


def place(row: PlacedRow) -> PlacedNamed:
    """A project with its domain."""
    return PlacedNamed(row.uuid, row.name, Named(row.domain_uuid, row.domain_name))


class TemporaryQuota(Shape):
    """A quota that ends by itself, or that is planned."""

    state: Annotated[
        str,
        one_of(TemporaryState),
        Field(description="`over`: the end has passed, and not all of it could be given back so far"),
    ]
    quota: Amount
    starts_at: Time = field(name="from")
    until: Time
    quota_before: Annotated[int, Field(ge=0, description="to which it goes back; not if planned")] | None = None
    over_by: Annotated[int, Field(ge=0, description="what was not given back so far")] | None = None
    problem: Annotated[str, Field(description="why it could not begin, or not be given back")] | None = None


class Temporary(Protocol):
    """What is to be shown, as it is stored or as it is planned."""

    @property
    def state(self) -> str:
        """As `limes.core.temporary_quota.TemporaryState`."""
        ...

    @property
    def quota(self) -> int: ...

    @property
    def before(self) -> int | None: ...

    @property
    def starts_at(self) -> float: ...

    @property
    def until(self) -> float: ...

    @property
    def problem(self) -> str: ...


def render_temporary(temporary: Temporary, present: int) -> TemporaryQuota:
    """`present` is the quota that there is now."""
    before = temporary.before
    return TemporaryQuota(
        state=temporary.state,
        quota=temporary.quota,
        starts_at=int(temporary.starts_at),
        until=int(temporary.until),
        quota_before=before,
        over_by=None if before is None or temporary.state != TemporaryState.OVER else max(0, present - before),
        problem=temporary.problem or None,
    )


def unit_of(catalog: Catalog, ref: Ref) -> str | None:
    """Returns the unit of a measured resource; None for counted ones, and for those that are not configured."""
    resource = catalog.find(ref)
    return None if resource is None else unit_name(resource.unit)


def unit_name(unit: Unit) -> str | None:
    """Returns how the API names a unit; None if things are counted."""
    return unit.value or None
