"""The sub-commands of `limes placement`, which tend a Placement instead of serving it."""

import argparse

from limes.commands.placement import audit, transfer


def add_to(parser: argparse.ArgumentParser) -> None:
    """Adds `placement audit` and `placement import`."""
    actions = parser.add_subparsers(metavar="ACTION", required=False)
    for module in (audit, transfer):
        module.add_to(actions)
