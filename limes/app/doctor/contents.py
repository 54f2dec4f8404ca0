"""What is in the Limes half's database: whether it fits the configuration, and whether kept sums are right."""

from collections.abc import Iterator

from limes.app.composition.cluster import build_cluster
from limes.app.context import open_limes
from limes.app.doctor.context import Context
from limes.app.features import entries
from limes.db.engine import Engine
from limes.kernel.errors import LimesError
from limes.kernel.findings import Finding, ok, problem
from limes.usage.sum_upkeep import disabled_triggers, wrong_sums
from limes.usage.sums import are_kept

_REBUILD = "limes db rebuild-sums"
_SHOWN_SUMS = 3


def check_contents(name: str, context: Context, engine: Engine) -> Iterator[Finding]:
    """All checks; `name` begins the findings' names. Those of features need the configuration, and are left out where
    it is wrong: the check of the configuration says why."""
    yield from _sums(f"{name}.sums", context, engine)
    try:
        cluster = build_cluster(context.settings)
    except LimesError:
        return
    limes = open_limes(cluster, engine, context.settings, clock=context.clock)
    for check in entries("checks", "CHECKS"):
        yield from check(name, limes)


def _sums(name: str, context: Context, engine: Engine) -> Iterator[Finding]:
    """Adds up the rows of all projects, and compares with the sums that PostgreSQL keeps (docs/adr/0024)."""
    if not are_kept(engine):
        return
    off = disabled_triggers(engine)
    if off:
        text = f"triggers that keep the sums over projects are disabled: {', '.join(off)}"
        yield problem(name, text, f"ALTER TABLE ... ENABLE TRIGGER ALL for these tables, and then {_REBUILD}")
    wrong = wrong_sums(engine, context.now())
    if wrong:
        shown = "; ".join(f"{each.what} {each.key}: {each.kept}, not {each.computed}" for each in wrong[:_SHOWN_SUMS])
        text = f"{len(wrong)} kept sums over projects are wrong, so that reports and room for commitments are: {shown}"
        yield problem(name, text, _REBUILD)
    elif not off:
        yield ok(name, "the kept sums over projects are what their rows add up to")
