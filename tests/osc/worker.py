"""openstackclient in one process for many commands: `python -m tests.osc.worker`.

Reads a JSON object a line (`argv`, `env`), runs the command in this process, and answers a JSON list a line: exit code,
output, errors. Terminals are for others: here standard input is none.
"""

import contextlib
import io
import json
import logging
import os
import sys
from typing import Any


def run(argv: list[str]) -> tuple[int, str, str]:
    """One command, as the program `openstack` would run it."""
    from openstackclient import shell
    from osc_lib.clientmanager import ClientManager

    # a process is made for one command: each shell adds a handler, and clients are kept with their login
    logging.getLogger().handlers.clear()
    vars(ClientManager)["limes"]._handle = None
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            status = shell.OpenStackShell().run(argv)
        except SystemExit as stop:  # argparse
            status = stop.code if isinstance(stop.code, int) else 1
    return status, out.getvalue(), errors.getvalue()


def main() -> None:
    """Serves until the input ends."""
    clean = dict(os.environ)
    sys.argv = ["openstack"]
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        os.environ.clear()
        os.environ.update(clean | request["env"])
        print(json.dumps(run(request["argv"])), flush=True)


if __name__ == "__main__":
    main()
