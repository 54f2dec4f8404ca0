"""The openstack client, kept running because its imports take seconds; run in the `real` environment.

Each line of its input is a JSON list of arguments, and each line of its output what came of them.
"""

import contextlib
import io
import json
import sys

from openstackclient.shell import OpenStackShell


def run(arguments: list[str]) -> dict[str, object]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = OpenStackShell().run(arguments)
        except SystemExit as ended:
            code = ended.code
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), flush=True)
