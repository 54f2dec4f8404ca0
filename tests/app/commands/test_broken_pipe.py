"""Whoever reads the output of a command may stop doing so, as `head` does."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize("command", ["config policy", "config options", "completion zsh"])
def test_output_that_nobody_reads(command: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer) as nobody:
        done = subprocess.run(
            [sys.executable, "-m", "limes", *command.split()], stdout=nobody, stderr=subprocess.PIPE, timeout=200
        )
    assert (done.returncode, done.stderr) == (1, b"")
