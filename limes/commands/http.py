"""`limes api` and `limes placement`: one of the two HTTP APIs under gunicorn."""

import argparse
import os
import sys

from limes.commands import placement
from limes.commands.options import Commands, add_config_option


def add_to(commands: Commands) -> None:
    """Adds `api`, and `placement` with its sub-commands: without one of them, it serves."""
    for name, text in (("api", "serve the Limes Resource API"), ("placement", "serve the Placement API, or tend it")):
        parser = commands.add_parser(name, help=text)
        add_config_option(parser)
        parser.set_defaults(run=run, process=name)
        if name == "placement":
            placement.add_to(parser)


def run(options: argparse.Namespace) -> int:
    """Becomes gunicorn."""
    os.environ["LIMES_PROCESS"] = options.process
    arguments = gunicorn_command(options.process)
    os.execv(arguments[0], arguments)  # noqa: S606 - no shell, and a fixed program


def gunicorn_command(process: str) -> list[str]:
    """The command line of gunicorn for one of the two APIs."""
    app = {"api": "limes.wsgi:limes_app()", "placement": "limes.wsgi:placement_app()"}[process]
    return [sys.executable, "-m", "gunicorn", "-c", "python:limes.composition.gunicorn_conf", app]
