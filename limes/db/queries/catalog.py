"""Rows that mirror the configuration: services, resources, capacitors."""

from limes.core.catalog import Ref
from limes.db.engine import Engine


def service_ids(engine: Engine) -> dict[str, int]:
    """Id of each service, by type."""
    return {service_type: id_ for id_, service_type in engine.rows("SELECT id, type FROM services")}


def resource_ids(engine: Engine) -> dict[Ref, int]:
    """Id of each resource."""
    rows = engine.rows("SELECT r.id, s.type, r.name FROM resources r JOIN services s ON s.id = r.service_id")
    return {(service_type, name): id_ for id_, service_type, name in rows}


def service_resource_ids(engine: Engine, service_id: int) -> dict[str, int]:
    """Id of each resource of a service that its backend still offers, by name."""
    rows = engine.rows("SELECT id, name FROM resources WHERE service_id = %s AND is_known = %s", [service_id, True])
    return {name: id_ for id_, name in rows}


def all_ids(engine: Engine) -> tuple[dict[int, str], dict[Ref, int]]:
    """The types of services by id, and the ids of resources, in one query."""
    rows = engine.rows("SELECT s.id, s.type, r.id, r.name FROM services s LEFT JOIN resources r ON r.service_id = s.id")
    types = {service_id: service_type for service_id, service_type, _, _ in rows}
    return types, {(service_type, name): id_ for _, service_type, id_, name in rows if id_ is not None}
