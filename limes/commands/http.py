"""`limes api`, `limes placement` and `limes liquid`: one of the HTTP APIs under gunicorn."""

import argparse
import os
import sys

from limes.commands import placement_audit, placement_import, terminal
from limes.liquid import LISTEN_VARIABLE, SERVICE_VARIABLE

_APPS = {
    "api": "limes.wsgi:limes_app()",
    "placement": "limes.wsgi:placement_app()",
    "liquid": "limes.wsgi:liquid_app()",
}


_CODES = {0: "stopped by a signal", 1: "it could not start; standard error says why"}


def add_to(commands: terminal.Commands) -> None:
    """Adds `api`, and `placement` with its sub-commands: without one of them, it serves; and `liquid`."""
    config = terminal.add_config_option
    terminal.add_command(commands, "api", run, "serve the Limes Resource API", config, codes=_CODES, process="api")
    text = "serve the Placement API; audit or import"
    parser = terminal.add_command(commands, "placement", run, text, config, codes=_CODES, process="placement")
    parser.usage = "%(prog)s [-h] [--config FILE] [ACTION ...]"  # argparse shows ACTION as required, which it is not
    actions = parser.add_subparsers(metavar="ACTION", required=False, prog=parser.prog)
    placement_audit.add_to(actions)
    placement_import.add_to(actions)
    terminal.add_command(
        commands,
        "liquid",
        run_liquid,
        "serve the LIQUID protocol for one of the configured services",
        terminal.argument("service_type", metavar="SERVICE_TYPE", help="one of services[].service_type"),
        terminal.argument("--listen", metavar="HOST:PORT", help="instead of the configured liquid.listen"),
        config,
        codes=_CODES,
        process="liquid",
    )


def run_liquid(options: argparse.Namespace) -> int:
    """Becomes gunicorn, and tells it which service and where."""
    os.environ[SERVICE_VARIABLE] = options.service_type
    if options.listen:
        os.environ[LISTEN_VARIABLE] = options.listen
    return run(options)


def run(options: argparse.Namespace) -> int:
    os.environ["LIMES_PROCESS"] = options.process
    arguments = gunicorn_command(options.process)
    os.execv(arguments[0], arguments)  # noqa: S606 - no shell, and a fixed program


def gunicorn_command(process: str) -> list[str]:
    """Returns the command line of gunicorn for one of the APIs."""
    return [sys.executable, "-m", "gunicorn", "-c", "python:limes.composition.gunicorn_conf", _APPS[process]]
