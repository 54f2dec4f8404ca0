"""What cannot be done before a project's service was scraped for the first time, and why that has not happened yet."""

from collections.abc import Collection

from limes.core.catalog import Ref
from limes.core.scrape_problem import no_report
from limes.db.engine import Engine
from limes.db.queries import project_scrapes as queries
from limes.errors import NotReady


def not_ready(engine: Engine, project_id: int, missing: Collection[Ref]) -> NotReady:
    """The refusal, with one line for each of these resources that nothing is known of. Inside a transaction."""
    services = sorted({service_type for service_type, _ in missing})
    states = {one.service_type: one for one in queries.scrape_states(engine, project_id, services)}
    failing = {type_: one.failing_since for type_, one in states.items() if one.failing_since is not None}
    failing = queries.outages(engine, [type_ for type_ in services if type_ not in failing]) | failing
    lines = []
    for ref in sorted(missing):
        state = states.get(ref[0])
        lines.append(no_report(ref, state.scraped_at if state else None, failing.get(ref[0])))
    return NotReady("\n".join(lines))
