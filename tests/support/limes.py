"""The context of use cases, for tests."""

from collections.abc import Mapping
from typing import Any

from limes.app.context import Limes
from limes.app.settings import Settings
from limes.backends import CapacityBackend, CapacityReport, DiscoveryBackend, DomainInfo, ProjectInfo
from limes.backends.loader import Backends
from limes.catalog.catalog import Catalog
from limes.db.engine import Engine


class NoKeystone(DiscoveryBackend):
    """There are no domains."""

    def list_domains(self) -> list[DomainInfo]:
        return []

    def list_projects(self, domain: DomainInfo) -> list[ProjectInfo]:
        return []


class NoCapacity(CapacityBackend):
    """Knows of none."""

    def report_capacity(self) -> CapacityReport:
        return CapacityReport({})


def capacitors(*names: str) -> Backends:
    """Backends that are no more than that."""
    return Backends({}, {name: NoCapacity() for name in names}, NoKeystone())


def make_settings(**sections: Any) -> Settings:
    """The defaults, with some sections (as models, or as in the file) in their place."""
    models = {name: section for name, section in sections.items() if not isinstance(section, dict)}
    rest = {name: section for name, section in sections.items() if isinstance(section, dict)}
    services = [{"service_type": name, "type": "fake"} for name in ("compute", "volume")]
    document = {"availability_zones": ["az-one", "az-two"], "services": services, **rest}
    return Settings.model_validate(document).model_copy(update=models)


def with_values(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """The settings with values in sections (`section.key`) that no file could have."""
    for path, value in values.items():
        section, key = path.split(".")
        changed = getattr(settings, section).model_copy(update={key: value})
        settings = settings.model_copy(update={section: changed})
    return settings


def make_limes(engine: Engine, catalog: Catalog, settings: Settings | None = None, **fields: Any) -> Limes:
    """Everything that is not given is as by default, without backends."""
    backends = fields.pop("backends", None) or Backends({}, {}, NoKeystone())
    return Limes(backends, catalog, engine=engine, settings=settings or make_settings(), **fields)
