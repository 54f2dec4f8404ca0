"""How the plugin speaks with a liquid."""

from collections.abc import Mapping
from typing import Any

from limes.backends import BackendContext, BackendError, ProjectInfo
from limes_plugins.liquid.params import LiquidParams
from limes_plugins.openstack.client import ServiceClient


def liquid_client(params: LiquidParams, context: BackendContext, service_type: str) -> ServiceClient:
    """Requests to the configured liquid."""
    catalog_type = params.catalog_type or f"liquid-{service_type}"
    return ServiceClient(context, params, name=catalog_type, service_type=catalog_type)


def metadata_of(project: ProjectInfo) -> dict[str, object]:
    """A project as LIQUID describes it."""
    domain = {"uuid": project.domain.id, "name": project.domain.name}
    return {"uuid": project.id, "name": project.name, "domain": domain}


def flat(sub: Any) -> Mapping[str, Any]:
    """An entry with its attributes beside its name, as those of all other plugins are."""
    if not isinstance(sub, dict):
        raise BackendError("a subresource or subcapacity is no object")
    attributes = sub.get("attributes")
    rest = {key: value for key, value in sub.items() if key != "attributes"}
    return {**(attributes if isinstance(attributes, dict) else {}), **rest}


def entries_by_az(entry: Any, where: str) -> Mapping[str, Mapping[str, Any]]:
    """The `perAZ` of a resource in a report. Raises `BackendError`."""
    per_az = entry.get("perAZ") if isinstance(entry, dict) else None
    if not isinstance(per_az, dict) or not all(isinstance(one, dict) for one in per_az.values()):
        raise BackendError(f"{where}: expected an object 'perAZ' of objects")
    return per_az
