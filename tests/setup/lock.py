"""`python -m tests.setup.lock`: writes requirements.lock anew, for every platform and Python that we support.

It names no index: pip takes the same files from whichever mirror it is configured for, and their hashes tell.
"""

import re
import sys
import tomllib

from tests.setup.install import SetupError, run
from tests.setup.needs import CHECKOUT

LOCK = CHECKOUT / "requirements.lock"
HEADER = """\
# What Limes runs with, exact versions with hashes: pip install --require-hashes -r requirements.lock
# `make lock` renews it from pyproject.toml; nothing is changed by hand.
"""
_OPTIONS = ("--universal", "--generate-hashes", "--upgrade", "--no-header", "--no-annotate", "--no-emit-index-url")


def write() -> None:
    """Raises `SetupError` if uv does not find versions that fit together."""
    project = CHECKOUT / "pyproject.toml"
    document = tomllib.loads(project.read_text())
    python = re.sub(r"[^\d.]", "", document["project"]["requires-python"])
    build = (
        CHECKOUT / "build" / "build-requirements.txt"
    )  # setuptools is locked as well: it builds ours in the container
    build.parent.mkdir(exist_ok=True)
    build.write_text("\n".join(document["build-system"]["requires"]) + "\n")
    command = [
        sys.executable,
        "-m",
        "uv",
        "pip",
        "compile",
        "-q",
        *_OPTIONS,
        "--python-version",
        python,
        project,
        build,
    ]
    LOCK.write_text(HEADER + run(command, 600))


if __name__ == "__main__":
    try:
        write()
    except SetupError as error:
        sys.exit(f"requirements.lock was not written: {error}")
