"""`history` and `explain` of a domain's or a project's quotas."""

import argparse
from typing import ClassVar

from limes.core.units import Unit
from limes_osc.amounts import NO_LIMIT, Amount, exact, shown_unit, unit_of
from limes_osc.base import LimesLister, Options, Table
from limes_osc.cells import Text
from limes_osc.client import Json
from limes_osc.columns import Columns, Row
from limes_osc.options import add_filters, add_long, add_paging, add_unit, filters_of, paging_of, selects
from limes_osc.targets import OfDomain, OfProject, Targeted
from limes_osc.temporary import Temporary
from limes_osc.times import moment

_STEPS = {
    "needed": "needed now",
    "recent-usage": "recent usage",
    "growth": "growth",
    "base": "base quota",
    "minimum": "minimum",
}
"""What of a quota that grows by itself is what, for people."""
_NO_RULE = "amount"
"""The rule of bounds that are only the smallest or largest amount there is."""


class ShowHistory(Targeted, LimesLister):
    """Changes, the newest first."""

    nothing = "No changes."
    options: ClassVar[Options] = (add_filters, add_paging, add_long, add_unit)
    _columns = Columns(
        ["Number", "At", "What", "Service", "Resource", "Old", "New", "Reason", "Detail", "By", "Request ID"],
        optional={"Detail"},
        hidden={"Number", "Detail", "Request ID"},
        notable={"What": lambda change: change["What"] != "quota"},
    )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each change."""
        query = [*filters_of(parsed_args), *paging_of(parsed_args)]
        changes = self.limes.get(f"{self.path(parsed_args)}/history", query)["history"]
        rows = (_change(change, parsed_args.unit) for change in changes if _is_selected(change, parsed_args))
        return self.table(parsed_args, self._columns, rows)


class ShowDomainHistory(OfDomain, ShowHistory):
    """List changes of a domain's own quotas, the newest first"""


class ShowProjectHistory(OfProject, ShowHistory):
    """List changes of a project's quotas and of its bursting, the newest first"""


def _is_selected(change: Json, args: argparse.Namespace) -> bool:
    """Changes of bursting belong to all resources."""
    return "resource" not in change or selects(args, change["service"], change["resource"])


def _change(change: Json, wanted: Unit | None) -> Row:
    def value(key: str) -> Amount | bool | None:
        shown: int | bool | None = change[key]
        if shown is None or isinstance(shown, bool):
            return shown
        return Amount(shown, unit_of(change), wanted, exactly=True)

    return {
        "Number": change["number"],
        "At": moment(change["at"]),
        "What": change["what"],
        "Service": change.get("service"),
        "Resource": change.get("resource"),
        "Old": value("old"),
        "New": value("new"),
        "Reason": change["reason"],
        "Detail": change.get("detail"),
        "By": change["initiator"]["name"],
        "Request ID": change["request_id"],
        "Unit": shown_unit(change, wanted),
    }


class Bound(Amount):
    """The smallest or largest quota that is possible. People see the rule behind it: `126 (domain quota)`."""

    def __init__(self, amount: int, unit: Unit, wanted: Unit | None, rule: str) -> None:
        super().__init__(amount, unit, wanted, exactly=True)
        self._rule = rule

    def human_readable(self) -> str:
        """See above."""
        text = super().human_readable()
        if self._rule != _NO_RULE:
            return f"{text} ({self._rule.replace('_', ' ')})"
        return NO_LIMIT if self.machine_readable() else text


class ExplainQuotas(Targeted, LimesLister):
    """What decides on quotas, and where the caller could set them."""

    options: ClassVar[Options] = (add_filters, add_long, add_unit)
    _figures: ClassVar[dict[str, str]] = {
        "Quota": "quota",
        "Usable Quota": "usable_quota",
        "Usage": "usage",
        "Committed": "committed",
        "Projects Quota": "projects_quota",
        "Domain Quota": "domain_quota",
        "Other Domains Quota": "other_domains_quota",
        "Capacity": "capacity",
        "Min Nonzero Quota": "min_nonzero_project_quota",
    }
    _bounds = ("Min", "Min Rule", "Max", "Max Rule")
    _growth = ("Made Of", "Raised By")
    _origin = ("Changed At", "Changed By", "Reason")
    _columns = Columns(
        ["Service", "Resource", *_figures, "Temporary", "Constraint", *_bounds, *_growth, *_origin],
        optional={*_figures, "Temporary", "Constraint", *_growth, *_origin} - {"Quota"},
        hidden={*_figures, "Constraint", *_origin} - {"Quota"},
        notable=dict.fromkeys(("Min Rule", "Max Rule"), lambda _: False),  # they are behind the bounds
    )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each quota."""
        explanations = self.limes.get(f"{self.path(parsed_args)}/explain", filters_of(parsed_args))["explanations"]
        selected = (entry for entry in explanations if selects(parsed_args, entry["service"], entry["resource"]))
        return self.table(
            parsed_args,
            self._columns,
            (self._row(self.warned(entry), parsed_args.unit) for entry in selected),
        )

    def _row(self, entry: Json, wanted: Unit | None) -> Row:
        unit, origin = unit_of(entry), entry.get("origin", {})
        least, most = entry["min_acceptable_quota"], entry["max_acceptable_quota"]
        return {
            "Service": entry["service"],
            "Resource": entry["resource"],
            **{title: Amount(entry[key], unit, wanted) for title, key in self._figures.items() if key in entry},
            "Temporary": Temporary(entry["temporary_quota"], unit) if "temporary_quota" in entry else None,
            "Constraint": entry.get("constraint"),
            "Min": Bound(least["quota"], unit, wanted, least["rule"]),
            "Min Rule": least["rule"],
            "Max": Bound(most["quota"], unit, wanted, most["rule"]),
            "Max Rule": most["rule"],
            **_growth_cells(entry, unit),
            "Changed At": moment(origin.get("at")),
            "Changed By": origin.get("initiator", {}).get("name"),
            "Reason": origin.get("reason"),
            "Unit": shown_unit(entry, wanted),
        }


def _growth_cells(entry: Json, unit: Unit) -> Row:
    """Returns what a quota that grows by itself is made of, and what would raise it."""
    growth = entry.get("growth")
    if growth is None:
        return {}
    parts = [f"{exact(step['quota'], unit)} {_STEPS.get(step['step'], step['step'])}" for step in growth["steps"]]
    advice = [one["message"] for one in growth["raised_by"]]
    return {
        "Made Of": Text(growth["steps"], "\n".join(parts)),
        "Raised By": Text(growth["raised_by"], "\n".join(advice)) if advice else None,
    }


class ExplainDomain(OfDomain, ExplainQuotas):
    """Explain a domain's quotas: the smallest and largest that you could set, and why"""


class ExplainProject(OfProject, ExplainQuotas):
    """Explain a project's quotas: the smallest and largest that you could set, and why"""
