"""The LIQUID API's collaborators: one service of the configuration, and no database."""

import os

from pydantic import ValidationError

from limes.app.composition import cluster, identity
from limes.app.liquid import LISTEN_VARIABLE, SERVICE_VARIABLE, app, handlers
from limes.app.settings import Settings
from limes.auth.policy import Policy
from limes.backends import calls
from limes.kernel import errors, system


def liquid_settings(settings: Settings) -> Settings:
    """Returns the settings with the command's address in them. Raises `ConfigError` if it is not valid."""
    listen = os.environ.get(LISTEN_VARIABLE)
    if not listen:
        return settings
    try:
        section = settings.liquid.model_validate({**settings.liquid.model_dump(), "listen": listen})
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise errors.ConfigError([f"--listen {listen}: {reason}"]) from None
    return settings.model_copy(update={"liquid": section})


def build_liquid(settings: Settings) -> handlers.LiquidCollaborators:
    """Makes everything for the service that the command named. Raises `ConfigError` if it is not configured."""
    settings = liquid_settings(settings)
    identity.refuse_exposure(settings, "liquid")
    cloud = cluster.open_cloud(settings, settings.liquid.threads)
    backends = cluster.open_backends(settings, cloud)
    service_type = os.environ.get(SERVICE_VARIABLE, "")
    backend = backends.quota.get(service_type)
    if backend is None:
        known = ", ".join(sorted(backends.quota))
        raise errors.ConfigError([f"there is no service of type {service_type!r} under services (there are: {known})"])
    service = calls.describe(backend, service_type)
    resources: dict[str, set[str]] = {}
    for name, capacitor in backends.capacity.items():
        if names := {ref[1] for ref in capacitor.resources() if ref[0] == service_type}:
            resources[name] = names
    capacity = {name: backends.capacity[name] for name in resources}
    return handlers.LiquidCollaborators(
        client_address=identity.client_address(settings),
        compression=settings.liquid.clients.compression,
        service=service,
        backend=backend,
        capacity=capacity,
        capacity_of=frozenset(service.resources.keys() & set().union(*resources.values())),
        needs_demand=frozenset(
            ref[1] for name in capacity for ref in calls.needs_demand(capacity[name], name) if ref[0] == service_type
        ),
        authenticator=identity.open_authenticator(settings, cloud),
        policy=Policy(app.RULES, settings.liquid.policy_file),
        clock=system.SystemClock(),
        ids=system.SystemIds(),
        version_file=folder / f"{service_type}.json" if (folder := settings.liquid.version_folder) else None,
    )
