"""Fields that the three levels share."""

import math
from collections.abc import Container, Iterable
from typing import Any

import orjson

from limes.api.shapes.common import (
    CommitmentConfig,
    Committable,
    Hints,
    QuotaSetShape,
    ResourceHead,
    ResourceHints,
    ResourcesAnswer,
    ResourcesOfService,
    ScrapeRange,
    ServiceHead,
    SetQuota,
    Staleness,
)
from limes.core.catalog import Behavior, Catalog, Ref, ResourceDef, ServiceDef
from limes.core.commitments.request import committable_azs
from limes.core.quota import QuotaSet
from limes.core.selection import Selection
from limes.core.units import Unit
from limes.system import Clock

Json = dict[str, Any]


class RenderContext:
    """What rendering needs besides the figures. There is one for each request."""

    def __init__(
        self,
        catalog: Catalog,
        clock: Clock,
        *,
        detail: bool = False,
        per_az: bool = False,
        stale_after: float = math.inf,
    ) -> None:
        self.catalog = catalog
        self.now = clock.now().timestamp()
        self.detail = detail
        """Whether subresources and subcapacities are shown (`?detail`)."""
        self.per_az = per_az
        """Whether the breakdown `per_az` is shown."""
        self.stale_after = stale_after
        """Seconds after which figures are marked as stale."""
        self._heads: dict[tuple[Ref, int], ResourceHints] = {}

    @property
    def with_azs(self) -> bool:
        """Whether figures of projects by AZ are needed at all."""
        return self.detail or self.per_az

    @property
    def commitments_at(self) -> float | None:
        """The time at which commitments are to be summed up; None if they are not shown."""
        return self.now if self.per_az else None

    @property
    def stale_before(self) -> float:
        """Figures that are older than this time are too old."""
        return self.now - self.stale_after

    def stale_age(self, scraped_at: float | None) -> int | None:
        """Returns the age of figures that are too old, in seconds; None of others."""
        age = 0.0 if scraped_at is None else self.now - scraped_at
        return int(age) if age > self.stale_after else None

    def add_staleness(self, document: Staleness, scraped_at: float) -> None:
        """Adds `is_stale` and the age to figures that are too old."""
        if (age := self.stale_age(scraped_at)) is not None:
            document["is_stale"] = True
            document["age_seconds"] = age

    def head(self, ref: Ref, resource: ResourceDef, behavior: Behavior) -> ResourceHints:
        """Returns the fields of a resource in a domain or project that are no figures. Shared: copy it, don't change
        it.

        Kept by behaviour, which thousands of projects share.
        """
        key = (ref, id(behavior))
        head = self._heads.get(key)
        if head is None:
            head = self._heads[key] = {
                **resource_head(self, ref, resource),
                **hints(behavior),
                **commitment_config(self, behavior),
            }
        return head


def unix(time: float) -> int:
    """Returns a UNIX timestamp as the API shows it: whole seconds."""
    return int(time)


def seconds(time: float | None) -> int | None:
    """As `unix`, of a time that may be missing."""
    return None if time is None else int(time)


def unit_of(catalog: Catalog, ref: Ref) -> str | None:
    """Returns the unit of a measured resource; None for counted ones, and for those that are not configured."""
    resource = catalog.find(ref)
    return None if resource is None else unit_name(resource.unit)


def unit_name(unit: Unit) -> str | None:
    """Returns how the API names a unit; None if things are counted."""
    return unit.value if unit.is_measured else None


def resource_head(context: RenderContext, ref: Ref, resource: ResourceDef) -> ResourceHead:
    """Returns what describes a resource on all levels: name; and unit, category, container, distribution if any."""
    document: ResourceHead = {"name": resource.name}
    if display_name := context.catalog.display_name(ref):
        document["display_name"] = display_name
    if resource.unit.is_measured:
        document["unit"] = resource.unit.value
    if resource.category:
        document["category"] = resource.category
    if resource.contained_in:
        document["contained_in"] = resource.contained_in
    if resource.tracks_quota:
        document["quota_distribution_model"] = context.catalog.distribution(ref).model
    return document


def commitment_config(context: RenderContext, behavior: Behavior) -> Committable:
    """Returns `commitment_config` if commitments are allowed. The earliest date is left out once it has passed."""
    if not behavior.commitment_durations:
        return {}
    azs = committable_azs(behavior, context.catalog)
    config: CommitmentConfig = {"durations": list(behavior.commitment_durations), "availability_zones": list(azs)}
    earliest = behavior.commitment_min_confirm_date
    if earliest is not None and earliest > context.now:
        config["min_confirm_by"] = unix(earliest)
    return {"commitment_config": config}


def hints(behavior: Behavior) -> Hints:
    """Returns `scales_with` and `annotations` of domains and projects, if they are configured."""
    document: Hints = {}
    if behavior.scales_with:
        service_type, name = behavior.scales_with
        document["scales_with"] = {
            "resource_name": name,
            "service_type": service_type,
            "factor": behavior.scaling_factor,
        }
    if behavior.annotations:
        document["annotations"] = dict(behavior.annotations)
    return document


def scrape_range(context: RenderContext, scraped_at: tuple[float | None, float | None]) -> ScrapeRange:
    """Returns `max_scraped_at` and `min_scraped_at` if anything was scraped, and whether the oldest figures are
    stale."""
    document: ScrapeRange = {}
    add_scrape_range(context, document, scraped_at)
    return document


def add_scrape_range(
    context: RenderContext, document: ScrapeRange, scraped_at: tuple[float | None, float | None]
) -> None:
    """Adds the same to a document that has more."""
    oldest, newest = scraped_at
    if oldest is None or newest is None:
        return
    document["max_scraped_at"], document["min_scraped_at"] = unix(newest), unix(oldest)
    context.add_staleness(document, oldest)


def render_resources(context: RenderContext, selection: Selection, sets: Iterable[QuotaSet] = ()) -> ResourcesAnswer:
    """GET /v1/resources: as everywhere, whatever is configured for single domains and projects."""
    catalog = context.catalog
    services: list[ResourcesOfService] = []
    for service, resources in selection.services.values():
        refs = [((service.type, resource.name), resource) for resource in resources]
        heads = [context.head(ref, resource, catalog.behavior(ref)) for ref, resource in refs]
        services.append({**service_head(service), "resources": heads})
    shapes = [_quota_set(catalog, each, set(selection.refs)) for each in sets]
    return {"services": services, "availability_zones": list(catalog.availability_zones), "quota_sets": shapes}


def _quota_set(catalog: Catalog, of: QuotaSet, selected: Container[Ref]) -> QuotaSetShape:
    services: dict[str, list[SetQuota]] = {}
    for ref, quota in of.quotas.items():
        resource = catalog.find(ref)
        if resource is None or ref not in selected:
            continue
        document: SetQuota = {"name": ref[1], "quota": quota}
        if resource.unit.is_measured:
            document["unit"] = resource.unit.value
        services.setdefault(ref[0], []).append(document)
    return {
        "name": of.name,
        "description": of.description,
        "services": [{"type": type_, "resources": resources} for type_, resources in services.items()],
    }


def service_head(service: ServiceDef) -> ServiceHead:
    """Returns what describes a service on all levels."""
    return {"type": service.type, "area": service.area}


def json_lists(texts: list[str]) -> list[Any]:
    """Concatenates JSON lists from the database. An empty text is an empty list."""
    return [item for text in texts if text for item in orjson.loads(text)]
