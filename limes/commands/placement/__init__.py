"""The sub-commands of `limes placement`, which tend a Placement instead of serving it."""

import argparse

from limes.commands.placement import audit


def add_to(parser: argparse.ArgumentParser) -> None:
    """Adds `placement audit`."""
    actions = parser.add_subparsers(metavar="ACTION", required=False)
    for module in (audit,):
        module.add_to(actions)
