"""Options that sub-commands share, and what their exit codes mean."""

import argparse
from collections.abc import Mapping
from typing import Any

import shtab

Commands = Any
"""What `argparse.ArgumentParser.add_subparsers` answers: its type is private."""

_EXIT_CODES = {0: "done", 1: "an error, explained on standard error", 2: "a wrong command line", 130: "interrupted"}


def add_config_option(parser: argparse.ArgumentParser, *, below_another: bool = False) -> None:
    """`--config FILE`. Below a command that has the option itself, it stands for that command's."""
    add_file_option(
        parser,
        "--config",
        default=argparse.SUPPRESS if below_another else None,
        help="the configuration file (default: $LIMES_CONFIG, or /etc/limes/limes.yaml)",
    )


def add_file_option(parser: Any, name: str, **options: Any) -> None:
    """An option that names a file, which shells can complete."""
    parser.add_argument(name, metavar="FILE", **options).complete = shtab.FILE


def add_exit_codes(parser: argparse.ArgumentParser, meanings: Mapping[int, str] | None = None) -> None:
    """Says in the command's help what its exit codes mean; `meanings` are those that are not as everywhere."""
    codes = {**_EXIT_CODES, **(meanings or {})}
    parser.epilog = f"Exit codes: {'; '.join(f'{code}: {codes[code]}' for code in sorted(codes))}."
