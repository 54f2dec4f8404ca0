"""`limes config check`: everything that can be found wrong without asking anybody."""

from limes.composition.cluster import build_cluster
from limes.composition.common import load_settings
from limes.composition.identity import open_cloud, refuse_exposure
from limes.composition.policy import limes_policy, placement_policy
from limes.errors import ConfigError, LimesError


def check_configuration() -> str:
    """One line that says what was found. Raises `ConfigError` with every problem."""
    settings = load_settings()
    problems: list[str] = []

    def collect(error: LimesError) -> None:
        problems.extend(error.problems if isinstance(error, ConfigError) else [str(error)])

    for process in ("api", "placement"):
        try:
            refuse_exposure(settings, process)
        except LimesError as error:
            collect(error)
    for load_policy in (limes_policy, placement_policy):
        try:
            load_policy(settings)
        except LimesError as error:
            collect(error)
    try:
        cluster = build_cluster(settings, open_cloud(settings))
    except LimesError as error:
        collect(error)
    if problems:
        raise ConfigError(problems)
    services, resources = len(cluster.catalog.services), len(cluster.catalog.refs())
    return f"The configuration is fine: {services} services with {resources} resources."
