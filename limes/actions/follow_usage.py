"""What a scrape means for quota that follows usage: usage of late is remembered, and what is needed is granted."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial

from limes.actions.change_log import ChangeLog
from limes.actions.compute_quota import autogrow_rule
from limes.actions.grant_needed import GrantNeeded
from limes.core.autogrow import quota_az
from limes.core.catalog import AutogrowRule, Catalog
from limes.core.recent_usage import add_change
from limes.db.engine import Engine
from limes.db.queries import usage_changes
from limes.db.queries.autogrow import mark_due
from limes.db.queries.autogrow_quotas import quotas_of_project
from limes.db.queries.scrapes import Figures

_PATIENCE = 10.0
"""Seconds until quota is computed. So many projects that are seen for the first time are computed together."""


@dataclass(frozen=True, slots=True)
class FollowUsage:
    """The use case with what it works with. To be called inside the transaction of a scrape."""

    engine: Engine
    catalog: Catalog
    change_log: ChangeLog

    def run(
        self,
        project_id: int,
        service_type: str,
        ids: Mapping[str, int],
        stored: Figures,
        present: Figures,
        now: float,
    ) -> None:
        """Follows the figures of one project, which are already written. `ids` are those of resources by name; `stored`
        has the figures from before. At most two statements to remember usage, and one to see whether it is granted."""
        rules = {
            id_: rule
            for name, id_ in ids.items()
            if id_ in present.resources and (rule := autogrow_rule(self.catalog, (service_type, name)))
        }
        if rules:
            self._remember(project_id, rules, stored, present, now)
            self._grant(project_id, rules, stored, present, now)

    def _remember(
        self, project_id: int, rules: Mapping[int, AutogrowRule], stored: Figures, present: Figures, now: float
    ) -> None:
        """A first report is no change; a vanished AZ is one to 0."""
        changed = {}
        for place in {*stored.azs, *present.azs}:
            if place[0] in rules and place[0] in stored.resources:
                before, after = _usage(stored, place), _usage(present, place)
                if before != after:
                    changed[place] = (before, after)
        if not changed:
            return
        known = usage_changes.usage_changes(self.engine, project_id, sorted({resource for resource, _ in changed}))
        written = {
            place: add_change(known.get(place, ()), now, before, after, rules[place[0]].retention)
            for place, (before, after) in changed.items()
        }
        usage_changes.write_usage_changes(self.engine, project_id, written)

    def _grant(self, project_id: int, rules: Collection[int], stored: Figures, present: Figures, now: float) -> None:
        new = {id_ for id_ in rules if id_ not in stored.resources}
        risen = {
            place: row.usage
            for place, row in present.azs.items()
            if place[0] in rules and row.usage > _usage(stored, place)
        }
        if not new and not risen:
            return
        quotas = quotas_of_project(self.engine, project_id, sorted({resource for resource, _ in risen}))
        short = {id_ for (id_, az), usage in risen.items() if usage > quotas.get((id_, quota_az(az)), 0)}
        GrantNeeded(self.engine, self.catalog, self.change_log).run([(project_id, id_) for id_ in short], now)
        if due := new | short:
            self.engine.after_commit(partial(mark_due, self.engine, due, now + _PATIENCE, lock=False))


def _usage(figures: Figures, place: tuple[int, str]) -> int:
    row = figures.azs.get(place)
    return row.usage if row else 0
