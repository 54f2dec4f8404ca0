"""The standbys that answer reads: reachable, of the same cluster, and not too far behind."""

import time
from collections.abc import Callable, Iterator

from peewee import Select, fn

from limes.db.advice import advise_on_connection, reason_of
from limes.db.engine import Engine
from limes.db.failures import DATABASE_ERRORS, first_line
from limes.db.opening import open_standbys, read_urls
from limes.db.standbys import PrimaryPositions, Standby
from limes.doctor.finding import Finding, ok, problem, skipped, warning
from limes.errors import LimesError
from limes.settings import Settings

# SQL text: PostgreSQL's control data have no models
_CLUSTER = "SELECT system_identifier FROM pg_control_system()"
_SERVER = Select(columns=[fn.pg_postmaster_start_time().cast("text")])
_POLL_SECONDS = 0.1


def check_standbys(
    name: str, primary: Engine, settings: Settings, sleep: Callable[[float], None] = time.sleep
) -> Iterator[Finding]:
    """Each standby of the database whose findings begin with `name`. The primary must answer."""
    of_placement = name.endswith(".placement")
    setting, _ = read_urls(settings, of_placement=of_placement)
    for standby in open_standbys(settings, "limes-doctor", of_placement=of_placement):
        check = f"{name}.standby.{standby.name}"
        try:
            with primary.connection():
                yield _look_at(check, primary, standby, setting, settings.database.max_replica_lag, sleep)
        except (LimesError, *DATABASE_ERRORS) as error:
            yield skipped(check, str(error))
        finally:
            standby.engine.close()


def _look_at(
    check: str, primary: Engine, standby: Standby, setting: str, max_lag: float, sleep: Callable[[float], None]
) -> Finding:
    engine = standby.engine
    try:
        engine.db.connect()
    except DATABASE_ERRORS as error:
        reason = reason_of(error)
        mend = advise_on_connection(reason, engine.address)
        return warning(check, f"{engine.location}: {reason}; the primary answers its reads", mend)
    try:
        if engine.rows(_CLUSTER) != primary.rows(_CLUSTER):
            mend = f"name standbys of database.url in {setting}"
            return problem(check, f"{standby.name} is no copy of the primary: it belongs to another cluster", mend)
        is_primary = engine.column(_SERVER) == primary.column(_SERVER)
        positions = PrimaryPositions(primary, 0)
        wanted, until = positions.ask(), time.monotonic() + max_lag
        while (seen := standby.ask(positions.epoch)) is not None and seen.position < wanted:
            if time.monotonic() >= until:
                text = f"{standby.name} is more than {max_lag:g} s behind; the primary answers its reads"
                return warning(check, text, "look at pg_stat_replication on the primary, or raise max_replica_lag")
            sleep(_POLL_SECONDS)
    except DATABASE_ERRORS as error:
        return warning(check, f"{standby.name}: {first_line(error)}", "look at its log")
    finally:
        engine.db.close()
    if seen is None and is_primary:
        return ok(check, f"{standby.name} is the primary at present, and left out")
    if seen is None:
        mend = f"take it out of {setting}, or make it a standby again"
        return warning(check, f"{standby.name} is no standby: it accepts writes; the primary answers its reads", mend)
    return ok(check, f"{standby.name} follows the primary")
