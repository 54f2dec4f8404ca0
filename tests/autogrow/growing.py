"""The small cloud with cores whose quota grows by itself, as a computation has left it."""

import re
from collections.abc import Callable
from typing import Any

from limes.catalog.catalog import AutogrowRule, DistributionRule
from limes.db.engine import Engine
from tests.api.world import World

RULE = AutogrowRule(growth_multiplier=1.5, project_base_quota=5)
GROWING_CORES = DistributionRule(re.compile("compute/cores"), "autogrow", autogrow=RULE)

AZ_QUOTAS = {1: {"az-one": 3, "az-two": 5}, 2: {"az-one": 31}}
"""Of cores, by project and AZ: 8 in berlin, which uses 2 and 3, and 31 in dresden, which uses 31."""

DUE_AT = 4102444800.0
"""When cores are to be computed next."""


def make_growing(make: Callable[..., World], **options: Any) -> World:
    """Makes the cloud."""
    world = make(distributions=[GROWING_CORES], **options)
    world.engine.atomic(lambda: fill_growing(world.engine))
    return world


def fill_growing(engine: Engine) -> None:
    """Puts the quota of cores into a database with the small cloud in it."""
    run = engine.execute
    [(cores,)] = engine.rows("SELECT id FROM resources WHERE name = 'cores'")
    run("UPDATE resources SET quota_due_at = %s WHERE id = %s", [DUE_AT, cores])
    run("UPDATE domain_resources SET quota = 0 WHERE resource_id = %s", [cores])
    for project, by_az in AZ_QUOTAS.items():
        total = sum(by_az.values())
        run(
            "UPDATE project_resources SET quota = %s, backend_quota = %s WHERE project_id = %s AND resource_id = %s",
            [total, total, project, cores],
        )
        for az, quota in by_az.items():
            run(
                "INSERT INTO project_az_quotas (project_id, resource_id, az, quota, changed_at)"
                " VALUES (%s, %s, %s, %s, 1000)",
                [project, cores, az, quota],
            )


def bounds(path: str, field: str, cores: Any, service: str = "compute", resource: str = "cores", **more: Any) -> Any:
    """The document that asks for one bound at the path of a project or a domain."""
    level = "project" if "/projects/" in path else "domain"
    return {level: {"services": [{"type": service, "resources": [{"name": resource, field: cores, **more}]}]}}
