"""The sub-commands of `limes placement`, which tend a Placement instead of serving it."""

import argparse

from limes.commands.placement import audit, transfer


def add_to(parser: argparse.ArgumentParser) -> None:
    """Adds `placement audit` and `placement import`."""
    parser.usage = "%(prog)s [-h] [--config FILE] [ACTION ...]"  # argparse shows ACTION as required, which it is not
    actions = parser.add_subparsers(metavar="ACTION", required=False, prog=parser.prog)
    for module in (audit, transfer):
        module.add_to(actions)
