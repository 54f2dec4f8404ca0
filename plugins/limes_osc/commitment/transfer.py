"""Moving commitments between projects: `transfer start`, `accept` and `cancel`, and `offer show`."""

import argparse
import os

from osc_lib.exceptions import CommandError

from limes_osc.base import LimesCommand
from limes_osc.client import Json
from limes_osc.commitment.listing import OFFERS, OneCommitment, OneOfProject, add_id
from limes_osc.options import add_amount, amount_of, option


class StartTransfer(OneOfProject):
    """Mark a commitment, or a part of it, for transfer; whoever has the token can accept it"""

    options = [
        add_id,
        add_amount,
        option("--public", action="store_true", help="Offer it to everybody, not only to those with the token"),
    ]

    def commitment(self, args: argparse.Namespace) -> Json:
        """Returns the marked commitment, with its token."""
        amount = amount_of(args, self.find(args, args.id))
        return self.change(args, *_mark(args.id, amount, "public" if args.public else "unlisted"))


class CancelTransfer(OneOfProject):
    """Cancel the transfer of a commitment"""

    options = [add_id]

    def commitment(self, args: argparse.Namespace) -> Json:
        return self.change(args, *_mark(args.id, self.find(args, args.id)["amount"], ""))


def _mark(number: int, amount: int, status: str) -> tuple[str, Json]:
    return f"{number}/start-transfer", {"commitment": {"amount": amount, "transfer_status": status}}


class Transferable(LimesCommand):
    """About the commitment that a token is for."""

    options = [
        option(
            "--token",
            help="Token of the transfer (Env: OS_LIMES_TRANSFER_TOKEN, which keeps it out of the process list)",
        )
    ]

    def headers(self, args: argparse.Namespace) -> dict[str, str]:
        """Raises `CommandError` without a token."""
        # not as the option's default: with --debug, openstackclient logs all options
        token = args.token or os.environ.get("OS_LIMES_TRANSFER_TOKEN")
        if not token:
            raise CommandError("a token is needed: --token, or OS_LIMES_TRANSFER_TOKEN")
        return {"Transfer-Token": token}

    def read_offer(self, args: argparse.Namespace) -> Json:
        answer = self.limes.get("/commitments/by-token", headers=self.headers(args), secret=True)
        return dict(answer["commitment"])


class ShowOffer(Transferable, OneCommitment):
    """Show the commitment that a transfer token belongs to"""

    def commitment(self, args: argparse.Namespace) -> Json:
        return self.read_offer(args)


class AcceptTransfer(Transferable, OneOfProject):
    """Move a commitment that was marked for transfer into the project"""

    options = [
        option("id", type=int, nargs="?", help="ID of a commitment that is offered to everybody; needs no token")
    ]

    def commitment(self, args: argparse.Namespace) -> Json:
        number, headers = self._find(args)
        path = f"{self.path(args)}/transfer-commitment/{number}"
        return dict(self.send("POST", path, headers=headers, secret=True)["commitment"])

    def _find(self, args: argparse.Namespace) -> tuple[int, dict[str, str]]:
        """Returns the number of the commitment, and the headers that take it. Raises `CommandError`."""
        if args.id is None:
            return int(self.read_offer(args)["id"]), self.headers(args)
        if args.token:
            raise CommandError("give an ID or a token, not both: the ID is for what is offered to everybody")
        offers = {offer["id"]: offer for offer in self.limes.get(OFFERS, secret=True)["commitments"]}
        if args.id not in offers:
            raise CommandError(f"nobody offers a commitment {args.id}: see openstack limes commitment offer list")
        return args.id, {"Transfer-Token": offers[args.id]["transfer_token"]}
