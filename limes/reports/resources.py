"""What describes services and resources on all levels, and GET /v1/resources, which has nothing else."""

import math
from collections.abc import Container, Iterable, Sequence
from functools import cache
from typing import Annotated, Any, Literal, Self, TypeVar

import orjson
from msgspec import Struct, field, structs
from pydantic import Field

from limes.api.answers import unit_of
from limes.catalog.catalog import Behavior, Catalog, Ref, ResourceDef, Selection, ServiceDef
from limes.commitments.rules import committable_azs
from limes.kernel.validation.shape import Amount, Shape, Time, Unit
from limes.projects.queries import ScrapeRange
from limes.quota.rules import QuotaSet

Age = Annotated[int, Field(ge=0, description="Age of the oldest figures")]


class ScalesWith(Shape):
    """Which other resource's quota this quota should follow, and how fast."""

    resource_name: str
    service_type: str
    factor: float


class CommitmentConfig(Shape):
    """Which commitments can be made."""

    durations: Sequence[str]
    availability_zones: Annotated[Sequence[str], Field(description="where they can be made")]
    min_confirm_by: Time | None = None


class ResourceHead(Shape):
    """What describes a resource on all levels."""

    name: str
    display_name: Annotated[str, Field(description="what people call it, if that is configured")] | None = None
    unit: Unit | None = None
    category: str | None = None
    contained_in: str | None = None
    quota_distribution_model: Annotated[str, Field(pattern="^(hierarchical|autogrow)$")] | None = None

    @classmethod
    def of(cls, catalog: Catalog, ref: Ref, resource: ResourceDef, **others: Any) -> Self:
        """Returns the resource with these other fields."""
        return cls(
            name=resource.name,
            display_name=catalog.display_name(ref) or None,
            unit=resource.unit.value or None,
            category=resource.category or None,
            contained_in=resource.contained_in or None,
            quota_distribution_model=catalog.distribution(ref).model if resource.tracks_quota else None,
            **others,
        )


class ResourceHints(ResourceHead):
    """What describes a resource on the levels of domains and projects."""

    scales_with: ScalesWith | None = None
    annotations: dict[str, str] | None = None
    commitment_config: CommitmentConfig | None = None


Committed = Annotated[int, Field(ge=0, description="The sum of confirmed commitments; only if `fields` names it")]
Hinted = TypeVar("Hinted", bound=ResourceHints)
Trimmed = TypeVar("Trimmed", bound=Shape)


@cache
def optional_fields(shape: type[Shape]) -> frozenset[str]:
    return frozenset(field.name for field in structs.fields(shape) if not field.required)


class RenderContext(Struct):
    """What rendering needs besides the figures. There is one for each request."""

    catalog: Catalog
    now: float
    detail: bool = False
    """Whether subresources and subcapacities are shown (`?detail`)."""
    per_az: bool = False
    """Whether the breakdown `per_az` is shown."""
    fields: frozenset[str] | None = None
    """The only optional fields that are shown (`?fields`); None for all but `committed`."""
    stale_after: float = math.inf
    """Seconds after which figures are marked as stale."""
    _heads: dict[tuple[Ref, int], Any] = field(default_factory=dict)

    @property
    def with_azs(self) -> bool:
        """Whether figures of projects by AZ are needed at all."""
        return self.detail or self.per_az

    @property
    def commitments_at(self) -> float | None:
        """The time at which commitments are to be summed up; None if they are not shown."""
        return self.now if self.per_az or self.with_committed else None

    @property
    def with_committed(self) -> bool:
        """Whether the sum of all commitments is shown."""
        return self.fields is not None and "committed" in self.fields

    def trim(self, shown: Trimmed) -> Trimmed:
        """Takes optional fields away that were not asked for. Returns the same document."""
        if self.fields is not None:
            for name in optional_fields(type(shown)) - self.fields:
                setattr(shown, name, None)
        return shown

    @property
    def stale_before(self) -> float:
        """Figures that are older than this time are too old."""
        return self.now - self.stale_after

    def stale_age(self, scraped_at: float | None) -> int | None:
        """Returns the age of figures that are too old, in seconds; None of others."""
        age = 0.0 if scraped_at is None else self.now - scraped_at
        return int(age) if age > self.stale_after else None

    def staleness(self, scraped_at: float | None) -> dict[str, Any]:
        """Returns the fields that figures have if they are too old."""
        age = self.stale_age(scraped_at)
        return {} if age is None else {"is_stale": True, "age_seconds": age}

    def scrape_range(self, scraped_at: ScrapeRange) -> dict[str, Any]:
        """Returns the fields for when figures come from, if anything was scraped, and whether the oldest are stale."""
        oldest, newest = scraped_at
        if oldest is None or newest is None:
            return {}
        return {"max_scraped_at": int(newest), "min_scraped_at": int(oldest), **self.staleness(oldest)}

    def head(self, kind: type[Hinted], ref: Ref, resource: ResourceDef, behavior: Behavior) -> Hinted:
        """Returns a resource of a domain or project without figures. Shared by resources that behave alike, which are
        thousands of projects: copy it, don't change it. A request shows resources of one kind."""
        key = (ref, id(behavior))
        head: Hinted | None = self._heads.get(key)
        if head is None:
            head = self._heads[key] = kind.of(self.catalog, ref, resource, usage=0)
            self.add_hints(head, behavior)
        return head

    def add_hints(self, shown: ResourceHints, behavior: Behavior) -> None:
        """Adds what is configured for user interfaces, and for commitments."""
        if behavior.scales_with:
            service, name = behavior.scales_with
            shown.scales_with = ScalesWith(resource_name=name, service_type=service, factor=behavior.scaling_factor)
        if behavior.annotations:
            shown.annotations = dict(behavior.annotations)
        shown.commitment_config = self.commitment_config(behavior)

    def commitment_config(self, behavior: Behavior) -> CommitmentConfig | None:
        """Returns None if commitments are not allowed. The earliest date is left out once it has passed."""
        durations, earliest = behavior.commitment_durations, behavior.commitment_min_confirm_date
        if not durations:
            return None
        min_confirm_by = None if earliest is None or earliest <= self.now else int(earliest)
        azs = committable_azs(behavior, self.catalog)
        return CommitmentConfig(durations=durations, availability_zones=azs, min_confirm_by=min_confirm_by)


class ServiceFigures(Shape):
    """A service of a domain or of the whole cloud. Figures are stale if the oldest of them are older than
    `collector.stale_after`."""

    type: str
    area: str
    resources: list[Any]
    max_scraped_at: Time | None = None
    min_scraped_at: Time | None = None
    is_stale: Literal[True] | None = None
    age_seconds: Age | None = None

    @classmethod
    def of(cls, context: RenderContext, service: ServiceDef, resources: list[Any], scraped_at: ScrapeRange) -> Self:
        return cls(type=service.type, area=service.area, resources=resources, **context.scrape_range(scraped_at))


def json_lists(texts: Iterable[str]) -> list[Any]:
    """Concatenates JSON lists from the database. An empty text is an empty list."""
    return [item for text in texts if text for item in orjson.loads(text)]


class ResourcesOfService(Shape):
    """A service, and what its resources are."""

    type: str
    area: str
    resources: list[ResourceHints]


class SetQuota(Shape):
    """A quota of a preset size."""

    name: str
    quota: Amount
    unit: Unit | None = None


class SetService(Shape):
    """The quotas of a service in a preset size, in the form that PUT takes."""

    type: str
    resources: list[SetQuota]


class QuotaSetShape(Shape):
    """A preset size, as `quota_set` names it."""

    name: str
    description: str
    services: list[SetService]


class ResourcesAnswer(Shape):
    """The services and resources, without figures."""

    services: list[ResourcesOfService]
    availability_zones: Sequence[str]
    quota_sets: list[QuotaSetShape]


def render_resources(context: RenderContext, selection: Selection, sets: Iterable[QuotaSet] = ()) -> ResourcesAnswer:
    """GET /v1/resources: as everywhere, whatever is configured for single domains and projects."""
    catalog = context.catalog
    services = []
    for service, resources in selection.services.values():
        shown = []
        for resource in resources:
            ref = (service.type, resource.name)
            hinted = ResourceHints.of(catalog, ref, resource)
            context.add_hints(hinted, catalog.behavior(ref))
            shown.append(hinted)
        services.append(ResourcesOfService(type=service.type, area=service.area, resources=shown))
    quota_sets = [_quota_set(catalog, each, set(selection.refs)) for each in sets]
    return ResourcesAnswer(services=services, availability_zones=catalog.availability_zones, quota_sets=quota_sets)


def _quota_set(catalog: Catalog, of: QuotaSet, selected: Container[Ref]) -> QuotaSetShape:
    services: dict[str, SetService] = {}
    for ref, quota in of.quotas.items():
        if ref in selected:
            service = services.setdefault(ref[0], SetService(type=ref[0], resources=[]))
            service.resources.append(SetQuota(name=ref[1], quota=quota, unit=unit_of(catalog, ref)))
    return QuotaSetShape(name=of.name, description=of.description, services=list(services.values()))
