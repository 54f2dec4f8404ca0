"""`history` and `explain` of a domain's or a project's quotas, and `limes change list`."""

import argparse
from collections.abc import Iterable, Iterator
from functools import partial

from limes.kernel.units import Unit
from limes_osc import base, client, quota_changes
from limes_osc.columns import Cell, Columns, Text, amount, at, named
from limes_osc.values import NO_LIMIT, Amount, exact, unit_of

_STEPS = {"needed": "needed now", "recent-usage": "recent usage", "base": "base quota"}
"""What of a quota that grows by itself is what, for people, where that is not its name."""
_NO_RULE = "amount"
"""The rule of bounds that are only the smallest or largest amount there is."""


def _value(key: str, change: client.Json, wanted: Unit | None) -> Amount | bool | None:
    value: int | bool | None = change[key]
    if value is None or isinstance(value, bool):
        return value
    return Amount(value, unit_of(change), wanted, exactly=True)


class ShowHistory(base.Targeted, base.Listing):
    nothing = "No changes."
    options = [base.add_filters, *base.PAGING, base.add_long, base.add_unit]
    columns = Columns(
        {
            "Number": "number",
            "At": at("at"),
            **named(str, "what", "service", "resource"),
            "Old": partial(_value, "old"),
            "New": partial(_value, "new"),
            **named(str, "reason", "detail"),
            "By": "initiator.name",
            "Request ID": "request_id",
        },
        optional={"Detail"},
        hidden={"Number", "Detail", "Request ID"},
        notable={"What": lambda change: change["What"] != "quota"},
    )

    def entries(self, args: argparse.Namespace) -> Iterable[client.Json]:
        return self.found(args, f"{self.path(args)}/history", "history", limit=args.limit, marker=args.marker)


class ShowDomainHistory(base.OfDomain, ShowHistory):
    """List changes of a domain's own quotas, the newest first"""


class ShowProjectHistory(base.OfProject, ShowHistory):
    """List changes of a project's quotas and of its bursting, the newest first"""


def _person_of(change: client.Json, _: Unit | None) -> str | None:
    who = change.get("initiator")
    return None if who is None else who["name"] or who["id"] if who["type"] == "user" else f"Limes ({who['name']})"


def _others(change: client.Json, _: Unit | None) -> Text | None:
    """What of a commitment has changed besides its amount."""
    fields = change.get("fields") or ()
    return (
        Text(list(fields), "\n".join(f"{each['name']}: {each['old']} -> {each['new']}" for each in fields))
        if fields
        else None
    )


class ListChanges(base.InScope, base.Listing):
    """List changes of quotas, bursting, commitments, requests and webhooks, the newest first"""

    nothing = "No changes."
    options = [
        base.time_option("--from", dest="since", help="Only changes at this time or later"),
        base.time_option("--until", help="Only changes before this time"),
        base.option("--person", metavar="<user>", help="Only changes that this user has made, by id or name"),
        base.repeated("--kind", help="Only changes of this kind: quota, bursting, commitment, request, ..."),
        base.repeated("--cause", help="Only changes for this reason: request, automatic, autogrow, ..."),
        base.option("--limit", metavar="<number>", type=int, help="At most this many (default: 100)"),
        base.option("--marker", metavar="<id>", help="Only what comes after the change of this id in the list"),
        *(base.add_filters, base.add_long, base.add_unit),
    ]
    columns = Columns(
        {
            "ID": "id",
            "At": at("at"),
            "Change": lambda change, _: Text(change["sentence"]),
            **named(str, "kind", "event"),
            "Domain ID": "domain.id",
            "Domain Name": "domain.name",
            "Project ID": "project.id",
            "Project Name": "project.name",
            **named(str, "service", "resource"),
            "Old": partial(_value, "old"),
            "New": partial(_value, "new"),
            "Other Fields": _others,
            **named(str, "cause", "detail"),
            "By": _person_of,
            "Request ID": "request_id",
            "Commitment": "commitment",
            "Quota Request": "quota_request",
        },
        optional={"Detail", "Other Fields"},
        hidden={
            *("ID", "Kind", "Event", "Domain ID", "Domain Name", "Project ID", "Project Name", "Service", "Resource"),
            *("Old", "New", "Other Fields", "Cause", "By", "Request ID", "Commitment", "Quota Request"),
        },
    )

    def entries(self, args: argparse.Namespace) -> Iterable[client.Json]:
        names = ("until", "person", "kind", "cause", "limit", "marker")
        query = {"from": args.since, **{name: getattr(args, name) for name in names}}
        return self.found(args, f"{self.path(args)}/changes", "changes", **query)


class Bound(Amount):
    """The smallest or largest quota that is possible. People see the rule behind it: `126 (domain quota)`."""

    def __init__(self, bound: client.Json, unit: Unit, wanted: Unit | None) -> None:
        super().__init__(bound["quota"], unit, wanted, exactly=True)
        self._rule = bound["rule"]

    def human_readable(self) -> str:
        text = super().human_readable()
        if self._rule != _NO_RULE:
            return f"{text} ({self._rule.replace('_', ' ')})"
        return NO_LIMIT if self.machine_readable() else text


def _made_of(entry: client.Json, _: Unit | None) -> Text | None:
    if "growth" not in entry:
        return None
    steps, unit = entry["growth"]["steps"], unit_of(entry)
    parts = [f"{exact(step['quota'], unit)} {_STEPS.get(step['step'], step['step'])}" for step in steps]
    return Text(steps, "\n".join(parts))


def _raised_by(entry: client.Json, _: Unit | None) -> Text | None:
    advice = entry.get("growth", {}).get("raised_by")
    return Text(advice, "\n".join(one["message"] for one in advice)) if advice else None


_FIGURES: dict[str, Cell] = {
    **named(amount, "quota", "usable_quota", "usage", "committed"),
    **named(amount, "projects_quota", "domain_quota", "other_domains_quota", "capacity"),
    "Min Nonzero Quota": amount("min_nonzero_project_quota"),
}
_ORIGIN: dict[str, Cell] = {
    "Changed At": at("origin.at"),
    "Changed By": "origin.initiator.name",
    "Reason": "origin.reason",
}


class ExplainQuotas(base.Targeted, base.Listing):
    options = [base.add_filters, base.add_long, base.add_unit]
    columns = Columns(
        {
            "Service": "service",
            "Resource": "resource",
            **_FIGURES,
            "Temporary": quota_changes.temporary_quota,
            "Constraint": "constraint",
            "Min": lambda entry, wanted: Bound(entry["min_acceptable_quota"], unit_of(entry), wanted),
            "Min Rule": "min_acceptable_quota.rule",
            "Max": lambda entry, wanted: Bound(entry["max_acceptable_quota"], unit_of(entry), wanted),
            "Max Rule": "max_acceptable_quota.rule",
            "Made Of": _made_of,
            "Raised By": _raised_by,
            **_ORIGIN,
        },
        optional={*_FIGURES, "Temporary", "Constraint", "Made Of", "Raised By", *_ORIGIN} - {"Quota"},
        hidden={*_FIGURES, "Constraint", *_ORIGIN} - {"Quota"},
        notable=dict.fromkeys(("Min Rule", "Max Rule"), lambda _: False),  # they are behind the bounds
    )

    def entries(self, args: argparse.Namespace) -> Iterator[client.Json]:
        return map(self.warned, self.found(args, f"{self.path(args)}/explain", "explanations"))


class ExplainDomain(base.OfDomain, ExplainQuotas):
    """Explain a domain's quotas: the smallest and largest that you could set, and why"""


class ExplainProject(base.OfProject, ExplainQuotas):
    """Explain a project's quotas: the smallest and largest that you could set, and why"""
