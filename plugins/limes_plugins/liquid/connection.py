"""How the plugin finds a liquid, and what goes there and comes from there."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from limes.backends import BackendContext, BackendError, ProjectInfo
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.params import ConnectionParams, Text


class LiquidParams(ConnectionParams):
    """How the liquid is found. A configured `endpoint` has no `/v1`."""

    catalog_type: Text | None = None
    """The liquid's type in Keystone's catalog; without, `liquid-` and the service's type."""
    info_file: Path | None = None
    """Where the liquid's description of itself is kept, so that Limes can start while the liquid is down."""


class LiquidServiceParams(LiquidParams):
    """Of a service."""

    area: Text


class LiquidCapacityParams(LiquidParams):
    """Of a capacitor."""

    service: Text
    """The service type whose capacity this is."""


def liquid_client(params: LiquidParams, context: BackendContext, service_type: str) -> ServiceClient:
    """Returns a client for the configured liquid."""
    catalog_type = params.catalog_type or f"liquid-{service_type}"
    return ServiceClient(context, params, name=catalog_type, service_type=catalog_type)


def metadata_of(project: ProjectInfo) -> dict[str, object]:
    """Returns a project as LIQUID describes it."""
    domain = {"uuid": project.domain.id, "name": project.domain.name}
    return {"uuid": project.id, "name": project.name, "domain": domain}


def flat(sub: Any) -> Mapping[str, Any]:
    """Returns an entry with its attributes beside its name, as those of all other plugins are."""
    if not isinstance(sub, dict):
        raise BackendError("a subresource or subcapacity is no object")
    attributes = sub.get("attributes")
    fields = {key: value for key, value in sub.items() if key != "attributes"}
    return {**(attributes if isinstance(attributes, dict) else {}), **fields}


def entries_by_az(entry: Any, where: str) -> Mapping[str, Mapping[str, Any]]:
    """Returns the `perAZ` of a resource in a report. Raises `BackendError`."""
    per_az = entry.get("perAZ") if isinstance(entry, dict) else None
    if not isinstance(per_az, dict) or not all(isinstance(figures, dict) for figures in per_az.values()):
        raise BackendError(f"{where}: expected an object 'perAZ' of objects")
    return per_az


def share_out(quota: int, used: Mapping[str, int]) -> dict[str, int]:
    """To each AZ what is used or wanted there, and of the rest the same to each (the first ones get what is left over).

    Where the quota is not enough for what is used, in proportion to it. The shares always sum up to the quota.
    """
    total = sum(used.values())
    if total > quota:
        shares = {az: quota * amount // total for az, amount in used.items()}
    else:
        each = (quota - total) // max(1, len(used))
        shares = {az: amount + each for az, amount in used.items()}
    left = quota - sum(shares.values())
    for az in sorted(shares)[:left]:
        shares[az] += 1
    return shares
