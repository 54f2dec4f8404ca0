"""Moving commitments between projects: `transfer start`, `accept` and `cancel`, and `offer show`."""

import argparse
import os
from typing import ClassVar

from osc_lib.exceptions import CommandError

from limes_osc.base import Fields, LimesCommand, Options
from limes_osc.client import Json, document_of
from limes_osc.commitment.listing import OFFERS, OneCommitment, OneOfProject, add_id
from limes_osc.options import add_amount, amount_of


def _add_public(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--public", action="store_true", help="Offer it to everybody, not only to those with the token")


class StartTransfer(OneOfProject):
    """Mark a commitment, or a part of it, for transfer; whoever has the token can accept it"""

    options: ClassVar[Options] = (add_id, add_amount, _add_public)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the marked commitment, with its token."""
        amount = amount_of(parsed_args, self.find(parsed_args, parsed_args.id))
        status = "public" if parsed_args.public else "unlisted"
        return self.change_commitment(parsed_args, *_mark(parsed_args.id, amount, status))


class CancelTransfer(OneOfProject):
    """Cancel the transfer of a commitment"""

    options: ClassVar[Options] = (add_id,)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the commitment."""
        amount = self.find(parsed_args, parsed_args.id)["amount"]
        return self.change_commitment(parsed_args, *_mark(parsed_args.id, amount, ""))


def _mark(number: int, amount: int, status: str) -> tuple[str, Json]:
    return f"{number}/start-transfer", {"commitment": {"amount": amount, "transfer_status": status}}


def _add_token(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--token",
        metavar="<token>",
        help="Token of the transfer (Env: OS_LIMES_TRANSFER_TOKEN, which keeps it out of the process list)",
    )


class Transferable(LimesCommand):
    """About the commitment that a token is for."""

    options: ClassVar[Options] = (_add_token,)

    def headers(self, args: argparse.Namespace) -> dict[str, str]:
        """Raises `CommandError` without a token."""
        # not as the option's default: with --debug, openstackclient logs all options
        token = args.token or os.environ.get("OS_LIMES_TRANSFER_TOKEN")
        if not token:
            raise CommandError("a token is needed: --token, or OS_LIMES_TRANSFER_TOKEN")
        return {"Transfer-Token": token}

    def read_offer(self, args: argparse.Namespace) -> Json:
        """Returns the commitment."""
        commitment: Json = self.limes.get("/commitments/by-token", headers=self.headers(args), secret=True)[
            "commitment"
        ]
        return commitment


class ShowOffer(Transferable, OneCommitment):
    """Show the commitment that a transfer token belongs to"""

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the commitment."""
        return self.commitment_fields(parsed_args, self.read_offer(parsed_args))


def _add_offer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "id",
        metavar="<id>",
        type=int,
        nargs="?",
        help="ID of a commitment that is offered to everybody; needs no token",
    )


class AcceptTransfer(Transferable, OneOfProject):
    """Move a commitment that was marked for transfer into the project"""

    options: ClassVar[Options] = (_add_offer,)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the commitment."""
        number, headers = self._find(parsed_args)
        path = f"{self.path(parsed_args)}/transfer-commitment/{number}"
        answer = self.limes.request("POST", path, headers=headers, secret=True)
        return self.commitment_fields(parsed_args, self.warned(document_of(answer))["commitment"])

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
