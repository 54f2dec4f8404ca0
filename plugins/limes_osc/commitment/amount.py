"""`--amount`, for a part of a commitment."""

import argparse

from osc_lib.exceptions import CommandError

from limes_osc.amounts import AmountError, parse_amount
from limes_osc.client import Json
from limes_osc.columns import unit_of


def add_amount(parser: argparse.ArgumentParser) -> None:
    """How much of it."""
    parser.add_argument("--amount", metavar="<amount>", help="Only a part, such as 10 or 200GiB (default: all of it)")


def amount_of(args: argparse.Namespace, commitment: Json) -> int:
    """In the unit of the commitment. Raises `CommandError`."""
    if args.amount is None:
        return int(commitment["amount"])
    try:
        return parse_amount(args.amount, unit_of(commitment))
    except AmountError as error:
        raise CommandError(str(error)) from None
