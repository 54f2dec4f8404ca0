"""Making commitments, and asking first: `create`, `can-confirm` and `plan`."""

import argparse
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from cliff.columns import FormattableColumn
from osc_lib.exceptions import CommandError

from limes.core.units import Unit
from limes_osc.amounts import Amount, AmountError, parse_amount, shown_unit, time, unit_of
from limes_osc.base import Fields, LimesShowOne, Options
from limes_osc.client import Json, document_of
from limes_osc.commitment.listing import OneOfProject
from limes_osc.options import add_unit, read_pair
from limes_osc.targets import InProject


def read_time(text: str) -> int:
    """Returns a UNIX time, or an ISO 8601 date or time (UTC, unless it says otherwise). Raises `ArgumentTypeError`."""
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        message = f"{text!r} is not a time (expected for example 2027-01-31, 2027-01-31T12:00:00Z or a UNIX time)"
        raise argparse.ArgumentTypeError(message) from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def add_wanted(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say what to commit to."""
    parser.add_argument(
        "resource", metavar="<service>/<resource>", type=read_pair, help="Resource, such as compute/cores"
    )
    parser.add_argument("amount", metavar="<amount>", help="Amount, such as 10 or 200GiB")
    parser.add_argument(
        "--availability-zone",
        "--az",
        metavar="<az>",
        default="any",
        help="Availability zone (default: any, for resources whose commitments have none)",
    )
    parser.add_argument(
        "--duration", metavar="<duration>", help='Duration, such as "2 years" (default: the only one that is offered)'
    )


def add_confirm_by(parser: argparse.ArgumentParser) -> None:
    """Adds `--confirm-by`."""
    parser.add_argument(
        "--confirm-by",
        metavar="<time>",
        type=read_time,
        help="Plan it for then, instead of confirming it at once (ISO 8601 or UNIX time)",
    )


class WantedCommitment(InProject):
    """A command about a commitment that could be made."""

    options: ClassVar[Options] = (add_wanted,)

    def ask(
        self, args: argparse.Namespace, operation: str, headers: Mapping[str, str] | None = None
    ) -> tuple[Json, Json]:
        """Returns the answer of `commitments/OPERATION`, and the report of the resource. Raises `CommandError`."""
        path = self.path(args)
        resource = self._resource(path, *args.resource)
        try:
            amount = parse_amount(args.amount, unit_of(resource))
        except AmountError as error:
            raise CommandError(str(error)) from None
        wanted = {
            "service_type": args.resource[0],
            "resource_name": args.resource[1],
            "availability_zone": args.availability_zone,
            "amount": amount,
            "duration": args.duration or _only_duration(resource["commitment_config"]["durations"]),
        }
        if getattr(args, "confirm_by", None) is not None:
            wanted["confirm_by"] = args.confirm_by
        answer = self.limes.request("POST", f"{path}/commitments/{operation}", (), {"commitment": wanted}, headers)
        return self.warned(document_of(answer)), resource

    def _resource(self, path: str, service: str, name: str) -> Json:
        """Returns the project's report of the resource. Raises `CommandError` if one cannot commit to it."""
        query = [("service", service), ("resource", name)]
        for reported in self.limes.get(path, query)["project"]["services"]:
            for resource in reported["resources"]:
                if "commitment_config" not in resource:
                    raise CommandError(f"{service}/{name}: there are no commitments to it")
                return dict(resource)
        raise CommandError(f"{service}/{name}: there is no such resource in this project")


def _only_duration(durations: list[str]) -> str:
    if len(durations) > 1:
        raise CommandError(f"--duration: which one? There are: {', '.join(durations)}")
    return durations[0]


def _add_key(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--idempotency-key",
        metavar="<key>",
        help="The same command with the same key makes no second commitment, but shows the first one",
    )


class CreateCommitment(WantedCommitment, OneOfProject):
    """Commit to an amount of a resource for a time"""

    options: ClassVar[Options] = (add_confirm_by, _add_key)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the commitment."""
        key = parsed_args.idempotency_key
        answer, _ = self.ask(parsed_args, "new", {"Idempotency-Key": key} if key else None)
        return self.commitment_fields(parsed_args, answer["commitment"])


class CanConfirmCommitment(WantedCommitment, LimesShowOne):
    """Ask whether a commitment could be confirmed at once; the exit code is 1 if not"""

    _result = True

    def run(self, parsed_args: argparse.Namespace) -> int:
        """The exit code is 1 if it could not."""
        return super().run(parsed_args) or int(not self._result)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Yes or no."""
        answer, _ = self.ask(parsed_args, "can-confirm")
        self._result = answer["result"]
        return self.fields(parsed_args, {"Result": self._result})


class Blockers(FormattableColumn[list[dict[str, Any]]]):
    """What has to end before: `60 in az-one until 2026-01-01T00:00:00Z`; for programs a list of objects."""

    def __init__(self, blockers: list[Json], unit: Unit, wanted: Unit | None) -> None:
        self._rows = [
            (Amount(blocker["amount"], unit, wanted), blocker["availability_zone"], time(blocker["expires_at"]))
            for blocker in blockers
        ]
        super().__init__(
            [
                {"amount": amount.machine_readable(), "availability_zone": zone, "expires_at": end}
                for amount, zone, end in self._rows
            ]
        )

    def human_readable(self) -> str:
        """Returns one line for each."""
        return "\n".join(f"{amount} in {zone} until {end}" for amount, zone, end in self._rows)


class PlanCommitment(WantedCommitment, LimesShowOne):
    """Show when a commitment could be confirmed, from what is known today, and what has to end before"""

    options: ClassVar[Options] = (add_confirm_by, add_unit)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the plan."""
        answer, resource = self.ask(parsed_args, "plan")
        plan, unit, wanted = answer["plan"], unit_of(resource), parsed_args.unit
        missing, unplaced = plan.get("missing_capacity"), plan.get("unplaced_usage")
        return self.fields(
            parsed_args,
            {
                "Confirmable Now": Amount(plan["confirmable_now"], unit, wanted, exactly=True),
                "Confirmable At": time(plan.get("confirmable_at")),
                "Missing Capacity": None if missing is None else Amount(missing, unit, wanted, exactly=True),
                "Used In Unknown Zones": None if unplaced is None else Amount(unplaced, unit, wanted, exactly=True),
                "Blocked By": Blockers(plan["blocked_by"], unit, wanted),
                "Unit": shown_unit(resource, wanted),
            },
        )
