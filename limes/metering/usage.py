"""What changes of usage mean for the account over time."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from limes.app.context import Limes
from limes.db.engine import Engine
from limes.metering import accounts, queries, source_queries
from limes.metering.queries import GapRow, StepRow
from limes.projects.scrapes import Scrape

Place = tuple[int, str]
"""A resource (id) and an AZ."""


def meter_usage(limes: Limes, scrapes: Sequence[Scrape]) -> None:
    """Adds to the account what scrapes have found. Nothing is written unless usage has changed; one statement if it
    has, and one more after a time in which the usage was not known."""
    engine, steps, gaps = limes.engine, [], []
    lost = [scrape for scrape in scrapes if scrape.task.metered_at != scrape.task.scraped_at or _jumped_back(scrape)]
    told = _usages_of_account(engine, lost) if lost else {}
    for scrape in scrapes:
        jumped_back = _jumped_back(scrape)
        if jumped_back:
            queries.forget_future(engine, scrape.task.project_uuid, scrape.task.service_type, int(scrape.now))
        steps += _steps(scrape, told.get(scrape.task.id), jumped_back)
        begin = unknown_since(scrape.task.scraped_at, scrape.task.failing_since, limes.settings.usage_valid_for)
        if begin is not None and begin < int(scrape.now):
            gaps.append(GapRow(scrape.task.project_uuid, scrape.task.service_type, begin, int(scrape.now)))
    if steps:
        queries.add_steps(engine, steps)
    if gaps:
        queries.add_gaps(engine, gaps)


def _jumped_back(scrape: Scrape) -> bool:
    return scrape.task.scraped_at is not None and scrape.now < int(scrape.task.scraped_at)


def _usages_of_account(engine: Engine, scrapes: Sequence[Scrape]) -> dict[int, dict[Place, int]]:
    """Returns the usage that the account knows, by the id of the scrape's task and by place.

    If the last scrape was one of the previous release, which adds nothing to the account and deletes rows of AZs in
    which nothing is used any more, the account itself is asked. So it is after a clock that was ahead: what it wrote in
    the future is forgotten, the end of the usage of AZs whose rows are gone among it.
    """
    of_project = {scrape.task.project_uuid: scrape for scrape in scrapes}
    found: dict[int, dict[Place, int]] = defaultdict(dict)
    for meter, usage in accounts.last_usages(engine, sorted(of_project), int(scrapes[0].now)).items():
        scrape = of_project[meter.project]
        if meter.service == scrape.task.service_type and meter.resource in scrape.ids:
            found[scrape.task.id][scrape.ids[meter.resource], meter.az] = usage
    return found


def _steps(scrape: Scrape, told: Mapping[Place, int] | None, jumped_back: bool) -> list[StepRow]:
    """Returns where the account does not know the present usage yet; all of it after a clock that was ahead. `told` is
    what the account says, if it was asked: else it knows what is stored."""
    task, stored, present = scrape.task, scrape.stored.azs, scrape.present
    if told is None and not jumped_back:
        told, rows, gone = {}, scrape.changes.azs, scrape.changes.gone
    else:
        told, rows = told or {}, present.azs
        gone = [place for place in {*stored, *told} - rows.keys() if place[0] in present.resources]
    usages = {place: row.usage for place, row in rows.items()} | dict.fromkeys(gone, 0)
    metered = {place: stored[place].metered_usage or 0 for place in usages if place in stored}
    metered |= {place: usage for place, usage in told.items() if place in usages}
    changes = {place: usage for place, usage in usages.items() if jumped_back or usage != metered.get(place, 0)}
    if not changes:
        return []
    at, names = int(scrape.now), {id_: name for name, id_ in scrape.ids.items()}
    # a clock that was put back says nothing about what was closed since: the job has to look
    recorded_at = queries.PENDING if jumped_back else at
    return [
        StepRow(task.project_uuid, task.service_type, names[resource], az, at, usage, recorded_at)
        for (resource, az), usage in sorted(changes.items())
    ]


def end_metering(limes: Limes, uuids: Collection[str]) -> None:
    """Ends the account of projects (by UUID) that are about to be deleted, in the same transaction."""
    if not uuids:
        return
    engine, now = limes.engine, int(limes.now())
    queries.end_projects(engine, uuids, now, lambda: accounts.last_usages(engine, sorted(uuids), now))
    _end_gaps(limes, source_queries.scrape_times(engine, True, sorted(uuids)), now)


def end_metering_of_services(limes: Limes, services: Sequence[str], resource_ids: Collection[int], now: float) -> None:
    """The same of services that are about to be deleted, with their resources."""
    if services:
        end_metering_of_resources(limes.engine, resource_ids, now)
        _end_gaps(limes, source_queries.scrape_times(limes.engine, False, services), int(now))


def end_metering_of_resources(engine: Engine, resource_ids: Collection[int], now: float) -> None:
    """Ends the account of resources that are offered no more. To be called again from time to time: a scrape that had
    started before may end after this."""
    queries.end_resources(engine, resource_ids, int(now))
    others = set(queries.metered_by_others(engine, resource_ids)) if resource_ids else None
    if others:
        projects, _, names = map(set, zip(*others, strict=True))
        known = accounts.last_usages(engine, sorted(projects), int(now), names)
        steps = [
            StepRow(*meter, int(now), 0, int(now)) for meter, used in known.items() if used and meter[:3] in others
        ]
        queries.add_steps(engine, steps)


def _end_gaps(limes: Limes, scrapes: Sequence[source_queries.ScrapeTimes], now: int) -> None:
    """Keeps that usage is not known until now, where that is so."""
    gaps = []
    for project, service, scraped_at, failing_since in scrapes:
        begin = unknown_since(scraped_at, failing_since, limes.settings.usage_valid_for)
        if begin is not None and begin < now:
            gaps.append(GapRow(project, service, begin, now))
    queries.add_gaps(limes.engine, gaps)


def unknown_since(scraped_at: float | None, failing_since: float | None, valid_for: float) -> int | None:
    """Returns since when the usage is unknown, in seconds: since the first scrape that failed, or since the last
    success is too old. In the future if all is well; None before the first scrape."""
    times = [time for time in (failing_since, None if scraped_at is None else scraped_at + valid_for) if time]
    return int(min(times)) if times else None
