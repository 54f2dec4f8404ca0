"""Options that sub-commands share."""

import argparse
from typing import Any

Commands = Any
"""What `argparse.ArgumentParser.add_subparsers` answers: its type is private."""


def add_config_option(parser: argparse.ArgumentParser, *, below_another: bool = False) -> None:
    """`--config FILE`. Below a command that has the option itself, it stands for that command's."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        default=argparse.SUPPRESS if below_another else None,
        help="the configuration file (default: $LIMES_CONFIG, or /etc/limes/limes.yaml)",
    )
