"""The one list of what is checked before anything starts.

Processes make all checks of theirs and stop at the first that fails. `limes config check` and `limes doctor` make those
that ask nobody and show all problems; the doctor examines database, Keystone and policies more closely by itself.
"""

import os
from collections.abc import Callable, Collection, Mapping
from itertools import product

from msgspec import Struct

from limes.app.composition import cluster, common, identity
from limes.app.databases import require_valid_urls
from limes.app.settings import Settings
from limes.app.settings.processes import ApiSettings, LiquidSettings
from limes.auth.policy import Policy
from limes.kernel.errors import ConfigError, LimesError, StartupError
from limes.kernel.logs import Style
from limes.placement.settings import PlacementSettings
from limes.web.worker.client_socket import Limits

HttpSection = ApiSettings | PlacementSettings | LiquidSettings
PROCESSES = ("api", "placement", "liquid")


class Check(Struct, frozen=True):
    """Something that has to be right before the processes that it is for may start."""

    name: str
    processes: Collection[str]
    run: Callable[[Settings, str], object]
    """Raises `ConfigError` or another `LimesError` with what is wrong for a process."""
    asks_others: bool = False
    """Whether it needs the database or Keystone. The others read files only."""


def _database_fits(settings: Settings, process: str) -> None:
    open_engine = common.open_checked_engine if process == "api" else common.open_checked_placement_engine
    open_engine(settings, f"limes-{process}").close()


def _tokens_can_be_validated(settings: Settings, process: str) -> None:
    cloud = cluster.open_cloud(settings)
    identity.open_authenticator(settings, cloud, allow_noauth=process == "placement")
    if settings.identity.method == "keystone":
        cloud.check()


def _policy_can_be_used(settings: Settings, process: str) -> None:
    """Without a file there are the shipped rules, and the whole API is not loaded only to see that these are right."""
    section: HttpSection = getattr(settings, process)
    if section.policy_file is None:
        return
    if process == "placement":
        identity.placement_policy(settings)
    elif process == "api":
        from limes.app.routes import RULES

        Policy(RULES, settings.api.policy_file)
    else:
        from limes.app.liquid.app import RULES

        Policy(RULES, settings.liquid.policy_file)


def _backends_can_be_built(settings: Settings, process: str) -> None:
    if process == "liquid":
        from limes.app.composition.liquid import build_liquid

        build_liquid(settings)
    else:
        cluster.build_cluster(settings)


CHECKS = (
    Check("exposure", PROCESSES, identity.refuse_exposure),
    Check("addresses", ("api", "placement"), lambda settings, process: require_valid_urls(settings)),
    Check("database", ("api", "placement"), _database_fits, asks_others=True),
    Check("identity", PROCESSES, _tokens_can_be_validated, asks_others=True),
    Check("policy", PROCESSES, _policy_can_be_used),
    Check("backends", ("api", "liquid"), _backends_can_be_built),
)


def require(settings: Settings, process: str, names: Collection[str] = ()) -> None:
    """Makes all checks for a process, or those named. Raises what the first one that fails raises."""
    for check in CHECKS:
        if process in check.processes and (not names or check.name in names):
            check.run(settings, process)


def problems_of(settings: Settings, names: Collection[str]) -> list[str]:
    """Returns what these checks find wrong for both APIs that share the configuration. None of them asks others."""
    problems: list[str] = []
    for check, process in product(CHECKS, ("api", "placement")):
        if check.name not in names or process not in check.processes:
            continue
        try:
            check.run(settings, process)
        except ConfigError as error:
            problems += error.problems
        except LimesError as error:
            problems.append(str(error))
    return list(dict.fromkeys(problems))


def load_checkable_settings(environ: Mapping[str, str] = os.environ) -> Settings:
    """As `load_any_settings`, but the problems of a file that is not valid are those of all checks that files allow."""
    try:
        return common.load_any_settings(environ)
    except ConfigError as error:
        rest = common.salvage_settings(environ)
        more = problems_of(rest.settings, ["addresses", "policy"]) if rest else []
        raise ConfigError(list(dict.fromkeys([*error.problems, *more]))) from None


def check_http_process(process: str) -> tuple[HttpSection, Limits, Style]:
    """Checks settings, database, schema, Keystone, policy and backends of `api`, `placement` or `liquid`. Returns its
    section, what it accepts from clients, and how it logs. All connections are closed again. Raises `ConfigError` or
    another `LimesError`."""
    if process not in PROCESSES:
        raise StartupError(f"LIMES_PROCESS: expected api, placement or liquid, not {process!r}")
    settings = common.load_any_settings() if process == "placement" else common.load_settings()
    section: HttpSection
    if process == "liquid":
        from limes.app.composition.liquid import liquid_settings
        from limes.app.liquid.handlers import MAX_BODY_SIZE

        settings = liquid_settings(settings)
        section, max_body_size = settings.liquid, MAX_BODY_SIZE
    elif process == "placement":
        section, max_body_size = settings.placement, settings.placement.bounds.max_body_size
    else:
        section, max_body_size = settings.api, settings.api.max_body_size
    require(settings, process)
    clients = section.clients.model_dump(exclude={"connections", "drain", "compression"})
    return section, Limits(**clients, max_body_size=max_body_size), settings.logging.style
