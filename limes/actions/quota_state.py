"""Which quotas a domain or project has now, as the tag that clients know them by."""

from collections.abc import Mapping

from limes.core.catalog import Catalog, Ref
from limes.core.quota import quota_tag
from limes.db.engine import Engine
from limes.db.queries import bursting as bursting_queries
from limes.db.queries.domain_quotas import domain_quotas_by_name
from limes.db.queries.project_quotas import project_quotas_by_name


def domain_tag(engine: Engine, catalog: Catalog, domain_id: int, *, lock: bool = False) -> str:
    """The tag of a domain. With `lock`, what it stands for stays as it is until the transaction ends.

    Belongs before other locks on rows of `domain_resources`: it takes all of them, in the order of resource ids.
    """
    return tag_of_domain(catalog, domain_quotas_by_name(engine, domain_id, lock=lock))


def tag_of_domain(catalog: Catalog, quotas: Mapping[Ref, int]) -> str:
    """The same, of all quotas of a domain. One that was never set is 0."""
    return quota_tag({ref: quota for ref, quota in quotas.items() if quota and _tracks_quota(catalog, ref)})


def project_tag(engine: Engine, catalog: Catalog, project_id: int, *, lock: bool = False) -> str:
    """The tag of a project. With `lock`, what it stands for stays as it is until the transaction ends."""
    bursting = bursting_queries.lock_project(engine, project_id, lock=lock)
    return tag_of_project(catalog, project_quotas_by_name(engine, project_id, lock=lock), bursting)


def tag_of_project(catalog: Catalog, quotas: Mapping[Ref, int | None], bursting: bool) -> str:
    """The same, of all quotas of a project. One that is null or missing cannot be set yet, or never."""
    shown = {ref: quota for ref, quota in quotas.items() if quota is not None and _tracks_quota(catalog, ref)}
    return quota_tag(shown, bursting=bool(bursting))


def _tracks_quota(catalog: Catalog, ref: Ref) -> bool:
    """Not so for a resource that left the configuration: it keeps its rows."""
    resource = catalog.find(ref)
    return resource is not None and resource.tracks_quota
