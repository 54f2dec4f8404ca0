"""Parts that several answers share."""

from typing import Annotated, Literal

from msgspec import field
from pydantic import Field

from limes.catalog.catalog import Catalog, Ref
from limes.kernel.validation.shape import Amount, Shape, Time, Unit, one_of
from limes.projects.scope import PlacedRow
from limes.quota import temporary as temporary_quota

Count = Annotated[int, Field(ge=0)]
ByDuration = Annotated[dict[str, Amount], Field(description="amounts by duration")]


class Link(Shape):
    """A link to another document."""

    rel: str
    href: str
    type: str | None = None


class Id(Shape, kw_only=False):
    """A new domain or project that was found in Keystone."""

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


class Initiator(Shape):
    """A user, with the id and the name at that time, or a job of Limes."""

    type: Literal["user", "job"]
    id: str | None = None
    name: str


def initiator(id_: str, name: str) -> Initiator:
    """A user; or a job, which has no id."""
    return Initiator(type="user", id=id_, name=name) if id_ else Initiator(type="job", name=name)


class OfResource(Shape):
    service: str
    resource: str
    unit: Unit | None = None


class OfProject(Shape):
    """What is about a resource of a project."""

    project: PlacedNamed
    service: str
    resource: str
    unit: Unit | None = None


def place(row: PlacedRow) -> PlacedNamed:
    return PlacedNamed(row.uuid, row.name, Named(row.domain_uuid, row.domain_name))


class TemporaryQuota(Shape):
    """A quota that ends by itself, or that is planned."""

    state: Annotated[
        str,
        one_of(temporary_quota.TemporaryState),
        Field(description="`over`: the end has passed, and not all of it could be given back so far"),
    ]
    quota: Amount
    starts_at: Time = field(name="from")
    until: Time
    quota_before: (
        Annotated[int, Field(ge=0, description="to which it goes back; missing if it is only planned")] | None
    ) = None
    over_by: Annotated[int, Field(ge=0, description="what was not given back so far")] | None = None
    problem: Annotated[str, Field(description="why it could not begin, or not be given back")] | None = None


def render_temporary(temporary: temporary_quota.TemporaryQuota, present: int) -> TemporaryQuota:
    """`present` is the quota that there is now."""
    before, is_over = temporary.before, temporary.state is temporary_quota.TemporaryState.OVER
    return TemporaryQuota(
        state=temporary.state.value,
        quota=temporary.quota,
        starts_at=int(temporary.starts_at),
        until=int(temporary.until),
        quota_before=before,
        over_by=max(0, present - before) if is_over and before is not None else None,
        problem=temporary.problem or None,
    )


def unit_of(catalog: Catalog, ref: Ref) -> str | None:
    """Returns the unit of a measured resource; None for counted ones, and for ones that are not configured."""
    resource = catalog.find(ref)
    return None if resource is None else resource.unit.value or None
