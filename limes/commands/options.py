"""Options that sub-commands share."""

import argparse
from typing import Any

Commands = Any
"""What `argparse.ArgumentParser.add_subparsers` answers: its type is private."""


def add_config_option(parser: argparse.ArgumentParser) -> None:
    """`--config FILE`."""
    parser.add_argument(
        "--config", metavar="FILE", help="the configuration file (default: $LIMES_CONFIG, or /etc/limes/limes.yaml)"
    )
