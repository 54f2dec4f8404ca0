"""No command prints a secret, whatever a library logs."""

import subprocess
import sys

_SCRIPT = """
import logging
from limes.app.cli import main
main(["plugin", "list", "--json"])
logging.getLogger("keystoneauth.session").warning(
    "Failure: Unable to establish connection to http://limes:pa55-of-ours@127.0.0.1:1/v2. Retrying in 0.5s."
)
"""


def test_the_password_of_an_endpoint_is_not_printed() -> None:
    """By a command that sets up no log of its own."""
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, timeout=200)
    assert "Retrying in 0.5s" in done.stderr
    assert "pa55-of-ours" not in done.stdout + done.stderr
