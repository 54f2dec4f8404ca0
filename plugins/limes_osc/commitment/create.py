"""Making commitments, and asking first: `create`, `can-confirm` and `plan`."""

import argparse
from typing import ClassVar

from limes_osc.amounts import Amount, shown_unit
from limes_osc.base import Fields, LimesShowOne, Options
from limes_osc.cells import Text
from limes_osc.client import Refused
from limes_osc.columns import Row
from limes_osc.commitment.advice import advise, first_clause, plan_fields, read_plan
from limes_osc.commitment.listing import OneOfProject
from limes_osc.commitment.wanted import WantedCommitment, add_confirm_by
from limes_osc.options import add_unit
from limes_osc.times import moment

_ANOTHER_MAY_WORK = ("not enough capacity", "this commitment needs a `confirm_by`")
"""How refusals begin that another amount or time would avoid."""


def _add_key(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--idempotency-key",
        metavar="<key>",
        help="Repeating the command with the same key creates no second commitment, but shows the first",
    )


def _add_auto_renew(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--auto-renew", action="store_true", help="Renew it before its end, without a request")


class CreateCommitment(WantedCommitment, OneOfProject):
    """Commit to an amount of a resource for a time"""

    options: ClassVar[Options] = (add_confirm_by, _add_auto_renew, _add_key)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the commitment. Raises `Refused`, with what would work instead."""
        wanted, key = self.read_wanted(parsed_args), parsed_args.idempotency_key
        if parsed_args.auto_renew:
            wanted.fields["auto_renew"] = True
        try:
            answer = self.ask(wanted, "new", {"Idempotency-Key": key} if key else None)
        except Refused as refused:
            plan = read_plan(self.ask, wanted) if str(refused).startswith(_ANOTHER_MAY_WORK) else None
            if plan is None:
                raise
            raise Refused(refused.status, f"{first_clause(str(refused))}\n{advise(plan, wanted)}") from None
        return self.commitment_fields(parsed_args, self.warned(answer)["commitment"])


class CanConfirmCommitment(WantedCommitment, LimesShowOne):
    """Check whether a commitment could be confirmed at once; if not, show what would work (exit code 1)"""

    _result = True

    def run(self, parsed_args: argparse.Namespace) -> int:
        """The exit code is 1 if it could not."""
        return super().run(parsed_args) or int(not self._result)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Yes; or no, and the reason. Scripts that read plain values only get yes or no, unless they choose others."""
        wanted = self.read_wanted(parsed_args)
        answer = self.warned(self.ask(wanted, "can-confirm"))
        self._result = answer["result"]
        fields: Row = {"Result": self._result}
        if "confirmable_now" in answer and (parsed_args.formatter != "value" or parsed_args.columns):
            fields |= {
                "Reason": Text(answer["reason"], first_clause(answer["reason"])),
                "Confirmable Now": Amount(answer["confirmable_now"], wanted.unit, exactly=True),
                "Confirmable At": moment(answer.get("confirmable_at")),
                "Unit": wanted.unit.value,
            }
            self.warn(advise(answer, wanted))
        return self.fields(parsed_args, fields)


class PlanCommitment(WantedCommitment, LimesShowOne):
    """Show when a commitment could be confirmed, as far as is known today, and what has to end first"""

    options: ClassVar[Options] = (add_confirm_by, add_unit)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the plan."""
        wanted = self.read_wanted(parsed_args)
        plan = self.warned(self.ask(wanted, "plan"))["plan"]
        unit = shown_unit(wanted.resource, parsed_args.unit)
        return self.fields(parsed_args, plan_fields(plan, wanted.unit, parsed_args) | {"Unit": unit})
