"""Recorded answers: exact to the byte, and readable in a diff.

A group of routes is a file in `recorded`. It has a block for each request: what was asked, status and headers, and the body. `| ` begins
a line of the body, and more spaces go on with it. What is random has a number instead: the same text, the same number.
"""

import difflib
import os
import re
from itertools import zip_longest
from pathlib import Path
from typing import Any

import limes

FOLDER = Path(__file__).parent / "recorded"
RECORD = "LIMES_RECORD_ANSWERS" in os.environ
"""Whether answers are written to the files, instead of compared with them."""

_UNRECORDED = {"content-length", "x-openstack-request-id"}
_RANDOM = re.compile(r"(?P<uuid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})|\b(?P<token>[0-9a-f]{48})\b")
_FOLD = re.compile(r"(?<=[\]}],)(?=.)|(?<=\[)(?={)")
"""Where a long line of JSON goes on in the next one."""
_MORE = "\n    "
_MOST_LINES = 40


class Answers:
    """All answers of one way, by group."""

    def __init__(self) -> None:
        self._groups: dict[str, list[tuple[str, str]]] = {}
        self._numbers: dict[str, str] = {}

    def note(self, group: str, asked: str, result: Any) -> None:
        """Adds an answer over HTTP."""
        headers = sorted(f" [{name}: {value}]" for name, value in result.headers.items() if name not in _UNRECORDED)
        self.note_text(group, asked, result.content.decode(), f"{result.status_code}{''.join(headers)}")

    def note_text(self, group: str, asked: str, body: str, head: str = "") -> None:
        """Adds any other text."""
        lines = body.replace("\r", "\\r").split("\n") if body else []
        folded = [f"| {_FOLD.sub(_MORE, line)}" if len(line) > 160 else f"| {line}" for line in lines]
        text = self._without_chance("\n".join([head, *folded]))
        blocks = self._groups.setdefault(group, [])
        same = next((other for other, its_text in blocks if its_text == text and len(text) > 200), None)
        blocks.append((self._without_chance(asked), text if same is None else f"as {same}"))

    def _without_chance(self, text: str) -> str:
        def name(match: re.Match[str]) -> str:
            number = len(self._numbers) + 1
            return self._numbers.setdefault(match[0], f"<{match.lastgroup} {number}>")

        return _RANDOM.sub(name, text.replace(limes.__version__, "<version>"))

    def compare(self) -> None:
        """Raises `AssertionError` for what differs from the files, and says where. Or writes the files."""
        if RECORD:
            for file in FOLDER.glob("*.txt"):
                file.unlink()
            for group, blocks in self._groups.items():
                text = "\n".join(f"## {asked}\n{text}\n" for asked, text in blocks)
                (FOLDER / f"{group}.txt").write_text(text, encoding="utf-8")
        found = {group: _read(FOLDER / f"{group}.txt") for group in self._groups}
        assert {file.stem for file in FOLDER.glob("*.txt")} == found.keys()
        different = [
            line
            for group, blocks in self._groups.items()
            for now, before in zip_longest(blocks, found[group], fillvalue=("", ""))
            for line in _difference(group, before, now)
        ]
        assert not different, "not as recorded:\n" + "\n".join(different[:_MOST_LINES])


def _read(file: Path) -> list[tuple[str, str]]:
    """The blocks of a file."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    blocks = (block.partition("\n") for block in re.split(r"^## ", text, flags=re.MULTILINE)[1:])
    return [(asked, text.removesuffix("\n").removesuffix("\n")) for asked, _, text in blocks]


def _difference(group: str, before: tuple[str, str], now: tuple[str, str]) -> list[str]:
    if before == now:
        return []
    lines = difflib.unified_diff(before[1].split("\n"), now[1].split("\n"), lineterm="", n=0)
    return [
        f"{group}: {before[0] or '(nothing)'}",
        *([] if before[0] == now[0] else [f"is: {now[0]}"]),
        *list(lines)[2:],
    ]
