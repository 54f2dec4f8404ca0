"""Commitments that could be made: `limes commitment create`, `can-confirm` and `plan`."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass

from osc_lib.exceptions import CommandError

from limes.kernel.units import Unit
from limes_osc import commitments, names, quota_changes
from limes_osc.base import InProject, LimesShowOne, add_resource, add_unit, option, time_option
from limes_osc.client import Json, Refused, document_of
from limes_osc.columns import Cell, Columns, Row, Text, at, exact_amount
from limes_osc.values import Amount, Moment, exact, iso_after, parse_amount, unit_of

ANY = "any"
"""The zone of commitments that are for all zones together."""

add_confirm_by = time_option(
    "--confirm-by", help="Plan it for then, instead of confirming it at once (ISO 8601 or UNIX time)"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    path: str
    """Of the project, below `/v1`."""
    unit: Unit
    """That of the resource."""
    fields: Json
    """The commitment in the body of requests."""

    @property
    def amount(self) -> int:
        return int(self.fields["amount"])


class WantedCommitment(InProject):
    options = [
        add_resource,
        option("amount", help="Amount, such as 10 or 200GiB"),
        option(
            "--availability-zone",
            "--az",
            help="Availability zone (may be left out if there is only one, or if the commitment is for all of them)",
        ),
        option("--duration", help='Duration, such as "2 years" (may be left out if only one is offered)'),
    ]

    def read_wanted(self, args: argparse.Namespace) -> Wanted:
        """Returns what the options ask for. Raises `CommandError` if that is nothing that one could commit to."""
        path = self.path(args)
        resource = self._resource(path, *args.resource)
        unit, config, name = unit_of(resource), resource["commitment_config"], "/".join(args.resource)
        amount = parse_amount(args.amount, unit)
        fields = {
            "service_type": args.resource[0],
            "resource_name": args.resource[1],
            "availability_zone": _zone(args.availability_zone, config.get("availability_zones"), name),
            "amount": amount,
            "duration": args.duration or _only("--duration", config["durations"]),
        }
        if getattr(args, "confirm_by", None) is not None:
            fields["confirm_by"] = args.confirm_by
        return Wanted(path, unit, fields)

    def ask(self, wanted: Wanted, operation: str, headers: Mapping[str, str] | None = None) -> Json:
        """Returns the answer of `commitments/OPERATION`. Raises `Refused`."""
        path, body = f"{wanted.path}/commitments/{operation}", {"commitment": wanted.fields}
        return document_of(self.limes.request("POST", path, (), body, headers=headers))

    def _resource(self, path: str, service: str, name: str) -> Json:
        """Returns the project's report of the resource. Raises `CommandError` if one cannot commit to it."""
        report = self.limes.get(path, [("service", service), ("resource", name)])["project"]
        resource = quota_changes.resources_of(report).get((service, name))
        if resource is None:
            raise CommandError(f"{service}/{name}: {quota_changes.why_missing(self.limes, service, name, report)}")
        if "commitment_config" in resource:
            return resource
        known = quota_changes.resources_of(self.limes.get(path)["project"])
        others = ["/".join(ref) for ref, each in known.items() if "commitment_config" in each]
        hint = f"but to {', '.join(others)}" if others else "nor to any other resource"
        raise CommandError(f"{service}/{name}: there are no commitments to it ({hint})")


def _zone(given: str | None, zones: list[str] | None, name: str) -> str:
    """Returns the availability zone; servers that do not say which there are (`zones`) check it themselves."""
    if given is None:
        return ANY if zones is None else _only("--az", zones)
    if zones is None or given in zones:
        return given
    if zones == [ANY]:
        raise CommandError(f"--az {given}: commitments to {name} are for all availability zones together; leave it out")
    raise CommandError(f"--az {given}: one cannot commit to {name} there; {names.suggest(given, zones)}")


def _only(option: str, choices: list[str]) -> str:
    if len(choices) != 1:
        raise CommandError(f"{option}: which one? There are: {', '.join(choices)}")
    return choices[0]


def _blockers(plan: Json, wanted: Unit | None) -> Text:
    """What has to end before: `60 in az-one until 2026-01-01 00:00:00 UTC`; for programs a list of objects."""
    values, lines = [], []
    for blocker in plan["blocked_by"]:
        amount, zone = Amount(blocker["amount"], unit_of(plan), wanted), blocker["availability_zone"]
        end = Moment(blocker["expires_at"])
        values.append(
            {"amount": amount.machine_readable(), "availability_zone": zone, "expires_at": end.machine_readable()}
        )
        lines.append(f"{amount.human_readable()} in {zone} until {end.to_the_second()}")
    return Text(values, "\n".join(lines), width=0)


def first_clause(reason: str) -> str:
    """Returns why something was refused, without what would work, which `advise` says with units that suit people."""
    return reason.partition("; ")[0]


def advise(plan: Json, wanted: Wanted) -> str:
    """Returns what would work instead, in lines. `plan` is a plan, or an answer to can-confirm."""
    lines, now, start = [], plan["confirmable_now"], plan.get("confirmable_at")
    if 0 < now < wanted.amount:
        lines.append(f"- {exact(now, wanted.unit)} can be confirmed at once")
    if start is not None:
        lines.append(f"- all of it from {Moment(start).in_full()}: plan it with --confirm-by {iso_after(start)}")
    else:
        missing = f" ({exact(plan['missing_capacity'], wanted.unit)} missing)" if "missing_capacity" in plan else ""
        lines.append(f"- all of it, once there is more capacity{missing}: with --confirm-by <time> it waits for that")
    if plan.get("blocked_by"):
        lines.append("- openstack limes commitment plan shows which commitments have to end before")
    return "\n".join(["What would work:", *lines])


_CONFIRMABLE: Mapping[str, Cell] = {
    "Confirmable Now": exact_amount("confirmable_now"),
    "Confirmable At": at("confirmable_at"),
}
_PLAN = Columns(
    {
        **_CONFIRMABLE,
        "Missing Capacity": exact_amount("missing_capacity"),
        "Used In Unknown Zones": exact_amount("unplaced_usage"),
        "Blocked By": _blockers,
    }
)
_CHECKED = Columns({"Reason": lambda answer, _: Text(answer["reason"], first_clause(answer["reason"])), **_CONFIRMABLE})


_ANOTHER_MAY_WORK = ("not enough capacity", "this commitment needs a `confirm_by`")
"""How refusals begin that another amount or time would avoid."""


class CreateCommitment(WantedCommitment, commitments.OneOfProject):
    """Commit to an amount of a resource for a time"""

    options = [
        add_confirm_by,
        option("--auto-renew", action="store_true", help="Renew it before its end, without a request"),
        option(
            "--idempotency-key",
            metavar="<key>",
            help="Repeating the command with the same key creates no second commitment, but shows the first",
        ),
    ]

    def commitment(self, args: argparse.Namespace) -> Json:
        """Raises `Refused`, with what would work instead."""
        wanted, key = self.read_wanted(args), args.idempotency_key
        if args.auto_renew:
            wanted.fields["auto_renew"] = True
        try:
            answer = self.ask(wanted, "new", {"Idempotency-Key": key} if key else None)
        except Refused as refused:
            if not str(refused).startswith(_ANOTHER_MAY_WORK):
                raise
            try:
                plan = self.ask(wanted, "plan")["plan"]
            except Refused:
                raise refused from None
            raise Refused(refused.status, f"{first_clause(str(refused))}\n{advise(plan, wanted)}") from None
        return dict(self.warned(answer)["commitment"])


class CanConfirmCommitment(WantedCommitment, LimesShowOne):
    """Check whether a commitment could be confirmed at once; if not, show what would work (exit code 1)"""

    _result = True

    def run(self, parsed_args: argparse.Namespace) -> int:
        """The exit code is 1 if it could not."""
        return super().run(parsed_args) or int(not self._result)

    def row(self, args: argparse.Namespace) -> Row:
        """Yes; or no, and the reason. Scripts that read plain values only get yes or no, unless they choose others."""
        wanted = self.read_wanted(args)
        answer = self.warned(self.ask(wanted, "can-confirm"))
        self._result = answer["result"]
        fields: Row = {"Result": self._result}
        if "confirmable_now" in answer and (args.formatter != "value" or args.columns):
            fields |= _CHECKED.row({**answer, "unit": wanted.unit.value})
            self.warn(advise(answer, wanted))
        return fields


class PlanCommitment(WantedCommitment, LimesShowOne):
    """Show when a commitment could be confirmed, as far as is known today, and what has to end first"""

    options = [add_confirm_by, add_unit]

    def row(self, args: argparse.Namespace) -> Row:
        wanted = self.read_wanted(args)
        plan = self.warned(self.ask(wanted, "plan"))["plan"]
        return _PLAN.row({**plan, "unit": wanted.unit.value}, args.unit)
