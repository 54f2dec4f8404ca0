"""`limes config check`: everything that can be found wrong without asking anybody, and what the database says to it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from limes.actions.compare_catalog import Comparison, compare
from limes.composition.cluster import build_cluster
from limes.composition.common import load_any_settings, load_settings, open_checked_engine
from limes.composition.identity import open_cloud, refuse_exposure
from limes.composition.policy import limes_policy, placement_policy
from limes.core.catalog import Ref
from limes.core.commitment_zones import refs_without_zones
from limes.errors import ConfigError, LimesError
from limes.settings import Settings
from limes.system import SystemClock


@dataclass(frozen=True, slots=True)
class Checked:
    """How much a configuration that is fine has."""

    services: int
    resources: int
    warnings: tuple[str, ...] = ()


def check_configuration() -> Checked:
    """Counts what there is. Raises `ConfigError` with every problem."""
    settings = load_any_settings()
    problems = [*exposure_problems(settings), *policy_problems(settings), *cluster_problems(settings)]
    if problems:
        raise ConfigError(problems)
    catalog = build_cluster(settings, open_cloud(settings)).catalog
    return Checked(len(catalog.services), len(catalog.refs()), tuple(map(_without_zones, refs_without_zones(catalog))))


def _without_zones(ref: Ref) -> str:
    return (
        f"commitments to {'/'.join(ref)} are for one availability zone (commitment_is_az_aware), but its backend does"
        " not report usage by zone: commitments do not cover what is used, and as much of the capacity is never sold"
    )


def compare_with_database() -> Comparison:
    """What the configuration drops of what the database has. Raises `ConfigError`, `StartupError`, `Unavailable`."""
    settings = load_settings()
    catalog = build_cluster(settings, open_cloud(settings)).catalog
    engine = open_checked_engine(settings, "limes-config-check")
    try:
        return compare(engine, catalog, SystemClock().now().timestamp(), settings.collector.service_grace)
    finally:
        engine.close()


def exposure_problems(settings: Settings) -> list[str]:
    """Where anybody could be anybody."""
    return _problems(partial(refuse_exposure, settings, process) for process in ("api", "placement"))


def policy_problems(settings: Settings) -> list[str]:
    """Why a policy file cannot be used."""
    return _problems([partial(limes_policy, settings), partial(placement_policy, settings)])


def cluster_problems(settings: Settings) -> list[str]:
    """What is wrong with services, capacitors, discovery, and what is said of their resources."""
    return _problems([lambda: build_cluster(settings, open_cloud(settings))])


def _problems(steps: Iterable[Callable[[], object]]) -> list[str]:
    problems: list[str] = []
    for step in steps:
        try:
            step()
        except ConfigError as error:
            problems += error.problems
        except LimesError as error:
            problems.append(str(error))
    return problems
