"""Making commitments, and asking first: `create`, `can-confirm` and `plan`."""

import argparse

from limes_osc.base import LimesShowOne
from limes_osc.client import Json, Refused
from limes_osc.columns import Columns, Row, Text, amount, at
from limes_osc.commitment.advice import PLAN, advise, first_clause
from limes_osc.commitment.listing import OneOfProject
from limes_osc.commitment.wanted import WantedCommitment, add_confirm_by
from limes_osc.options import add_unit, option

_ANOTHER_MAY_WORK = ("not enough capacity", "this commitment needs a `confirm_by`")
"""How refusals begin that another amount or time would avoid."""
_CHECKED = Columns(
    {
        "Reason": lambda answer, _: Text(answer["reason"], first_clause(answer["reason"])),
        "Confirmable Now": amount("confirmable_now", exactly=True),
        "Confirmable At": at("confirmable_at"),
    }
)


class CreateCommitment(WantedCommitment, OneOfProject):
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
        return PLAN.row({**plan, "unit": wanted.unit.value}, args.unit)
