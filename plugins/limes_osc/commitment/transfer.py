"""Moving commitments between projects: `transfer start`, `accept` and `cancel`, and `offer show`."""

import argparse
import os
from typing import ClassVar

from osc_lib.exceptions import CommandError

from limes_osc.base import Fields, LimesCommand, Options
from limes_osc.client import Json, document_of
from limes_osc.commitment.listing import OneCommitment, OneOfProject, add_id
from limes_osc.options import add_amount, amount_of


def _add_public(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--public", action="store_true", help="Offer it to everybody, instead of to who has the token")


class StartTransfer(OneOfProject):
    """Mark a commitment, or a part of it, for transfer; who has the token that is shown can take it"""

    options: ClassVar[Options] = (add_id, add_amount, _add_public)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the marked commitment, with its token."""
        amount = amount_of(parsed_args, self.find(parsed_args, parsed_args.id))
        status = "public" if parsed_args.public else "unlisted"
        return self.change_commitment(parsed_args, *_mark(parsed_args.id, amount, status))


class CancelTransfer(OneOfProject):
    """Withdraw the mark for transfer from a commitment"""

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
        help="Token of the transfer (Env: OS_LIMES_TRANSFER_TOKEN, which others on this machine do not see)",
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
    """Show the commitment that a token would take"""

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the commitment."""
        return self.commitment_fields(parsed_args, self.read_offer(parsed_args))


class AcceptTransfer(Transferable, OneOfProject):
    """Take a commitment that was marked for transfer into the project"""

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the commitment."""
        path = f"{self.path(parsed_args)}/transfer-commitment/{self.read_offer(parsed_args)['id']}"
        answer = self.limes.request("POST", path, headers=self.headers(parsed_args), secret=True)
        return self.commitment_fields(parsed_args, self.warned(document_of(answer))["commitment"])
