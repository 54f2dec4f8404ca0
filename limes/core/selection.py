"""What a request asks for: a part of the catalog by `service`, `area` and `resource`, and a page of a list."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from limes.core.catalog import Catalog, Ref, ResourceDef, ServiceDef


class Page(NamedTuple):
    """A part of a list: at most `limit` items whose UUIDs come after `marker`."""

    limit: int
    marker: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """Services to show, each with its resources to show, in the order of the catalog."""

    services: Mapping[str, tuple[ServiceDef, tuple[ResourceDef, ...]]]

    @property
    def refs(self) -> list[Ref]:
        return [(service, resource.name) for service, (_, resources) in self.services.items() for resource in resources]

    def is_whole(self, catalog: Catalog) -> bool:
        return len(self.refs) == len(catalog.refs())


def select(
    catalog: Catalog,
    services: Collection[str] | None = None,
    areas: Collection[str] | None = None,
    resources: Collection[str] | None = None,
) -> Selection:
    """Selects from the catalog; None means "all". A name that does not exist selects nothing, and is no error
    (behaviour of the original)."""
    return Selection(
        {
            service.type: (
                service,
                tuple(
                    resource for name, resource in service.resources.items() if resources is None or name in resources
                ),
            )
            for service in catalog.services.values()
            if (services is None or service.type in services) and (areas is None or service.area in areas)
        }
    )
