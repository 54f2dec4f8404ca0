"""The `limes` command: finds the sub-command, and turns our errors into one line each and exit code 1."""

import argparse
import os
import sys
from collections.abc import Sequence

from limes import __version__
from limes.app.commands import config, db, doctor, import_limes, notify, plugin, processes, serve, status
from limes.app.commands.parser import Parser, add_completion
from limes.kernel import errors, logs


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="limes", description="Quota and commitment service for OpenStack clouds, with a Placement API built in."
    )
    parser.add_argument("--version", action="version", version=f"limes {__version__}")
    parser.set_defaults(group=parser)
    commands = parser.add_subparsers(metavar="COMMAND", required=False)
    for module in (serve, processes, status, doctor, db, config, notify, plugin, import_limes):
        module.add_to(commands)
    add_completion(commands, parser)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a sub-command, or prints the help of a group of them. Returns its exit code, or that of a failure (1, or the
    sub-command's own `failure_code`) after an error that was explained on standard error."""
    logs.protect()
    options = build_parser().parse_args(arguments)
    if not hasattr(options, "run"):
        options.group.print_help()
        return 0
    if getattr(options, "config", None):
        os.environ["LIMES_CONFIG"] = os.path.abspath(options.config)
    try:
        code = int(options.run(options) or 0)
        sys.stdout.flush()
        return code
    except errors.ConfigError as error:
        for problem in error.problems:
            print(f"limes: {problem}", file=sys.stderr)
    except errors.LimesError as error:
        print(f"limes: {error}", file=sys.stderr)
    except BrokenPipeError:  # the reader of our output has closed the pipe; the rest is dropped
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    return int(getattr(options, "failure_code", 1))
