"""What a scrape means for quota that follows usage: usage of late is remembered, and what is needed is granted."""

from collections.abc import Collection, Mapping
from functools import partial

from limes.actions.change_log import ChangeLog
from limes.actions.compute_quota import autogrow_rule
from limes.actions.grant_needed import grant_needed
from limes.actions.scrape import Scrape
from limes.core.autogrow import quota_az
from limes.core.catalog import AutogrowRule, Catalog
from limes.core.recent_usage import add_change
from limes.db.queries import autogrow_figures
from limes.db.queries.autogrow import mark_due
from limes.db.queries.autogrow_quotas import quotas_of_project
from limes.db.queries.scrapes import Figures

_PATIENCE = 10.0
"""Seconds until quota is computed. So many projects that are seen for the first time are computed together."""


def follow_usage(scrape: Scrape, catalog: Catalog, change_log: ChangeLog) -> None:
    """At most two statements to remember usage, and one to see whether it is granted."""
    rules = {
        id_: rule
        for name, id_ in scrape.ids.items()
        if id_ in scrape.present.resources and (rule := autogrow_rule(catalog, (scrape.task.service_type, name)))
    }
    if rules:
        _remember(scrape, rules)
        _grant(scrape, rules, catalog, change_log)


def _remember(scrape: Scrape, rules: Mapping[int, AutogrowRule]) -> None:
    """A first report is no change; a vanished AZ is one to 0."""
    changed = {}
    for place in {*scrape.stored.azs, *scrape.present.azs}:
        if place[0] in rules and place[0] in scrape.stored.resources:
            before, after = _usage(scrape.stored, place), _usage(scrape.present, place)
            if before != after:
                changed[place] = (before, after)
    if not changed:
        return
    project = scrape.task.project_id
    known = autogrow_figures.usage_changes(scrape.engine, project, sorted({resource for resource, _ in changed}))
    written = {
        place: add_change(known.get(place, ()), scrape.now, before, after, rules[place[0]].retention)
        for place, (before, after) in changed.items()
    }
    autogrow_figures.write_usage_changes(scrape.engine, project, written)


def _grant(scrape: Scrape, rules: Collection[int], catalog: Catalog, change_log: ChangeLog) -> None:
    new = {id_ for id_ in rules if id_ not in scrape.stored.resources}
    risen = {
        place: row.usage
        for place, row in scrape.present.azs.items()
        if place[0] in rules and row.usage > _usage(scrape.stored, place)
    }
    if not new and not risen:
        return
    engine, project = scrape.engine, scrape.task.project_id
    quotas = quotas_of_project(engine, project, sorted({resource for resource, _ in risen}))
    short = {id_ for (id_, az), usage in risen.items() if usage > quotas.get((id_, quota_az(az)), 0)}
    grant_needed(engine, catalog, change_log, [(project, id_) for id_ in short], scrape.now)
    if due := new | short:
        engine.after_commit(partial(mark_due, engine, due, scrape.now + _PATIENCE, lock=False))


def _usage(figures: Figures, place: tuple[int, str]) -> int:
    row = figures.azs.get(place)
    return row.usage if row else 0
