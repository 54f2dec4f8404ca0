"""The quota that backends should enforce."""

from collections.abc import Mapping

from limes.catalog.catalog import Catalog, Ref
from limes.projects import tasks
from limes.projects.scrapes import ResourceRow
from limes.quota.queries import ProjectResourceRow
from limes.quota.rules import usable_quota

HasQuota = ResourceRow | ProjectResourceRow
"""A stored row of a project's resource."""


def wanted_quotas(
    catalog: Catalog, task: tasks.ProjectTask, ids: Mapping[str, int], stored: Mapping[int, HasQuota]
) -> dict[str, int]:
    """Returns the quota that the backend should enforce for each resource of the service that tracks quota, by name.
    That is what the project may use, with bursting, or what it uses already if the backend would refuse less. Resources
    without a quota yet get 0. `ids` are the resources' ids by name."""
    wanted = {}
    for name, resource in catalog.services[task.service_type].resources.items():
        if not resource.tracks_quota or name not in ids:
            continue
        ref = (task.service_type, name)
        wanted[name] = wanted_quota(catalog, ref, task.scope, stored.get(ids[name]), has_bursting=task.has_bursting)
    return wanted


def wanted_quota(catalog: Catalog, ref: Ref, scope: str, row: HasQuota | None, *, has_bursting: bool) -> int:
    """Returns the same for one resource that tracks quota; `scope` is the project's (`ProjectTask.scope`)."""
    resource = catalog.find(ref)
    quota = row.quota or 0 if row else 0
    usable = usable_quota(quota, catalog.behavior(ref, scope).burst_multiplier if has_bursting else 0)
    return max(usable, row.usage) if row and resource and resource.quota_at_least_usage else usable
