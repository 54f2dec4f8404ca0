"""Why the figures of a service are old or missing, in words for the users of a project.

They name the service and the time. They do not say what the backend has answered, or where it is: only operators may
know that.
"""

import re

from limes.catalog.catalog import Ref
from limes.kernel.calendar import render_time


def find_problem(
    service_type: str, scraped_at: float | None, failing_since: float | None, *, is_stale: bool
) -> tuple[float, str] | None:
    """Returns since when (seconds since the epoch) something is wrong with the figures of one service of one project,
    and what; None where all is well. `is_stale` tells whether the figures are older than they should be."""
    if failing_since is not None:
        failing = _failing(service_type, failing_since)
        if scraped_at is not None:
            return failing_since, f"{failing}; these figures are from {render_time(scraped_at)}"
        return failing_since, f"{failing}; there are no figures, and no quota can be set, until a scrape succeeds"
    if scraped_at is not None and is_stale:
        return scraped_at, f"service {service_type} was last scraped at {render_time(scraped_at)}: Limes is late"
    return None


def no_report(ref: Ref, scraped_at: float | None, failing_since: float | None) -> str:
    """Returns why a project has no figures for a resource, and when to try again (in the original's words, where they
    fit)."""
    head = f"no project report for resource {ref[0]}/{ref[1]}"
    if failing_since is not None:
        return f"{head}: {_failing(ref[0], failing_since)} (please retry after a scrape has succeeded)"
    if scraped_at is not None:
        return f"{head} (please retry after the next scrape of service {ref[0]})"
    return f"{head} (please retry in a few seconds after initial scraping is done)"


def _failing(service_type: str, since: float) -> str:
    return f"the backend of service {service_type} has been failing since {render_time(since)}"


PROJECT_PLACEHOLDER = "{project_id}"


def without_project(text: str, project_id: str) -> str:
    """Returns the text with a placeholder for this project's id, so that the same error has the same text in all
    projects."""
    return re.sub(rf"(?<![0-9A-Za-z-]){re.escape(project_id)}(?![\w-])", PROJECT_PLACEHOLDER, text)
