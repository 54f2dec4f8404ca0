"""The steps of the guide to two hosts: its blocks, in the order of the page."""

import time
from collections.abc import Iterator

from tests.docs.blocks import ROOT, Block, blocks_of
from tests.docs.stage.machine import Machine

PAGE = ROOT / "docs" / "guides" / "two-hosts.md"
TEST = "tests/docs/test_two_hosts.py"
PATIENCE = 200.0
"""Seconds until something has come to pass that the guide promises."""


def steps(condition: str = "", section: str = "") -> Iterator[Block]:
    """Yields the blocks that are marked `for: condition`, or those without that mark. With `section`, only those below
    the heading that begins with it."""
    for block in blocks_of(PAGE):
        is_ours = block.marks.get("run by") == TEST and block.marks.get("for", "") == condition
        if is_ours and _heading_of(block).startswith(section):
            yield block


def _heading_of(block: Block) -> str:
    """The heading of the second level above a block."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()[: block.line]
    return next(line.removeprefix("## ") for line in reversed(lines) if line.startswith("## "))


def play(block: Block, machine: Machine) -> None:
    """Writes the file that a block shows, or runs its commands and looks at what they say."""
    if "file" in block.marks:
        machine.write(block.marks["file"], block.text)
    elif "says in the end" in block.marks:
        _wait_until_it_says(machine, block.text, block.marks["says in the end"])
    else:
        output = " ".join(machine.run(block.text).split())
        assert block.marks.get("says", "") in output, output


def _wait_until_it_says(machine: Machine, commands: str, expected: str) -> None:
    """Repeats commands that only look, until what the guide promises is there."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            output = machine.run(commands)
            if expected in " ".join(output.split()):
                return
        except AssertionError as error:
            output = str(error)
        assert time.monotonic() < deadline, f"{expected!r} is not said by:\n{commands}\n{output}"
        time.sleep(1)
