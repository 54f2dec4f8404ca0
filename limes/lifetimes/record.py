"""From when to when subresources existed: recorded by scrapes, shown for bills, and finally forgotten."""

from collections.abc import Mapping, Sequence

from limes.app.context import Limes
from limes.db.transactions import snapshot
from limes.lifetimes import queries, rules
from limes.lifetimes.queries import LifetimeFilter, LifetimeRow
from limes.projects import scope, scrapes

_BATCH = 1000


def record_lifetimes(limes: Limes, found: Sequence[scrapes.Scrape], *, of: rules.Followed) -> None:
    """Writes which subresources are new since the last scrapes, and which are gone; nothing if nothing has changed. A
    service without followed subresources costs no statement."""
    service = found[0].task.service_type
    of_service = {name: attributes for (type_, name), attributes in of.items() if type_ == service}
    if not of_service:
        return
    known = queries.open_periods(limes.engine, [scrape.task for scrape in found])
    for scrape in found:
        followed = {name: attributes for name, attributes in of_service.items() if name in scrape.usages}
        _record_project(limes, scrape, known[scrape.task.project_uuid], followed)


def _record_project(
    limes: Limes, scrape: scrapes.Scrape, known: queries.KnownLifetimes, followed: Mapping[str, Sequence[str]]
) -> None:
    engine, task, now = limes.engine, scrape.task, scrape.now
    found = [
        rules.identify(name, az, entry, attributes)
        for name, attributes in followed.items()
        for az, item in scrape.usages[name].per_az.items()
        for entry in item.subresources
    ]
    changes = rules.compare([period for period in known.periods if period.what.resource_name in followed], found)
    # a clock that was set back makes no period end before it began
    at = max([now, *(period.began_at for period in known.periods)])
    if changes.ended:
        queries.end_periods(engine, changes.ended, at, now if task.scraped_at is None else task.scraped_at)
    project_id = known.project_id
    if project_id is None and (changes.begun or known.periods):
        names = (task.project_name, task.domain_uuid, task.domain_name)
        project_id = queries.name_project(engine, task.project_uuid, *names)
    if project_id is not None and changes.begun:
        queries.begin_periods(engine, project_id, task.service_type, changes.begun, at)


@snapshot
def show_lifetimes(limes: Limes, wanted: LifetimeFilter, after: int, limit: int) -> Sequence[LifetimeRow]:
    """Returns a page of periods. Raises `NotFound` for a domain or project that is not there and never had any."""
    domain, project = wanted.domain_uuid, wanted.project_uuid
    if domain is not None and not queries.was_there(limes.engine, domain, project):
        scope.find_domain(limes.engine, domain)
        if project is not None:
            scope.find_project(limes.engine, domain, project)
    return queries.page(limes.engine, wanted, after, limit)


def clean_up_lifetimes(limes: Limes) -> None:
    """Ends periods that no scrape can end any more, and deletes old ones. Several may run it at once."""
    engine, now = limes.engine, limes.now()
    section = limes.settings.subresource_lifetimes
    followed = ["/".join(ref) for ref in rules.followed_resources(limes.catalog, section.resources)]
    engine.atomic(lambda: queries.end_others(engine, followed, now))
    before = now - section.retention
    while engine.atomic(lambda: queries.delete_ended_before(engine, before, _BATCH)) == _BATCH:
        pass
    engine.atomic(lambda: queries.delete_projects_without_periods(engine))
