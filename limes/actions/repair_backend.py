"""Telling backends again what the quota is, where they enforce something else: asked for by setting it to what it is.

Without `collector.authoritative` this and a sync are the only ways to put a backend right.
"""

from collections.abc import Mapping

from limes.actions.automatic_steps import repaired
from limes.actions.project_tasks import wanted_quota
from limes.actions.scopes import scope_of
from limes.actions.trail import Trail
from limes.core.catalog import Catalog, Ref
from limes.db.engine import Engine
from limes.db.queries import quota_pushes as queries
from limes.db.queries.project_quotas import project_quotas_by_resource
from limes.db.queries.projects import ProjectRow


def repair(
    engine: Engine,
    catalog: Catalog,
    trail: Trail,
    project: ProjectRow,
    domain_uuid: str,
    ids: Mapping[Ref, int],
    now: float,
) -> list[str]:
    """Marks the services of these resources (with their ids) whose backends were seen to differ. Answers their types.

    Inside the transaction of the request. It is no change of a quota, so it is written down only where somebody had
    changed the backend, and nobody is putting that right already.
    """
    found = _diverging(engine, catalog, project, ids)
    services = sorted({ref[0] for ref in found})
    if services:
        news = set(queries.drifted_services(engine, project.id, services))
        steps = [repaired(catalog, ref, old, new) for ref, (old, new) in sorted(found.items()) if ref[0] in news]
        trail.quotas(scope_of(project, domain_uuid), steps)
        queries.mark_desynced(engine, project.id, services, now)
    return services


def _diverging(
    engine: Engine, catalog: Catalog, project: ProjectRow, ids: Mapping[Ref, int]
) -> dict[Ref, tuple[int, int]]:
    """What the backends enforce and what they should (in the stored form), where the last look at them has found that
    to differ."""
    stored = project_quotas_by_resource(engine, project.id, list(ids.values()))
    found: dict[Ref, tuple[int, int]] = {}
    for ref, id_ in ids.items():
        row = stored.get(id_)
        if row is None or row.quota is None or row.backend_quota is None:
            continue
        place = f"{project.domain_name}/{project.name}"
        wanted = wanted_quota(catalog, ref, place, row, has_bursting=bool(project.has_bursting))
        if row.backend_quota != wanted:
            found[ref] = (row.backend_quota, wanted)
    return found
