"""Sums over projects that PostgreSQL keeps: whether they are right, and whether they will stay so."""

from collections.abc import Iterator

from limes.db.engine import Engine
from limes.db.queries.kept_sums import are_kept
from limes.db.queries.sum_upkeep import disabled_triggers, wrong_sums
from limes.doctor.finding import Context, Finding, ok, problem

_REBUILD = "limes db rebuild-sums"
_SHOWN = 3


def check_sums(name: str, context: Context, engine: Engine) -> Iterator[Finding]:
    """Adds up the rows of all projects and compares (docs/adr/0024). `name` begins the findings' names."""
    if not are_kept(engine):
        return
    off = disabled_triggers(engine)
    if off:
        text = f"triggers that keep the sums over projects are disabled: {', '.join(off)}"
        yield problem(f"{name}.sums", text, f"ALTER TABLE ... ENABLE TRIGGER ALL for these tables, and then {_REBUILD}")
    wrong = wrong_sums(engine, context.now())
    if wrong:
        shown = "; ".join(f"{each.what} {each.key}: {each.kept}, not {each.computed}" for each in wrong[:_SHOWN])
        text = f"{len(wrong)} kept sums over projects are wrong, so that reports and room for commitments are: {shown}"
        yield problem(f"{name}.sums", text, _REBUILD)
    elif not off:
        yield ok(f"{name}.sums", "the kept sums over projects are what their rows add up to")
