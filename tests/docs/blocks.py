"""The fenced code blocks of all pages, with what an HTML comment right before them says about them.

`python -m tests.docs.blocks` prints how many there are of each language, and those that are not run, with the reasons.
"""

import functools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
_COMMENT = re.compile(r"<!--\s*(?P<key>[a-z ]+|instead of \S+)(?::\s+(?P<value>.*?))?\s*-->", re.DOTALL)
_IS_DIRECTIVE = re.compile(r"\{[\w-]+\}")


@dataclass(frozen=True, slots=True)
class Block:
    """One code block."""

    page: Path
    line: int
    """Of its first line of code, from 1."""
    language: str
    shown: str
    marks: dict[str, str]
    """What the comments before it say, by key: `<!-- not run: it would delete a cluster -->`."""

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def text(self) -> str:
        """What is to be run: the comment `instead of THIS: THAT` exchanges what readers have by what there is here."""
        text = self.shown
        for key, value in self.marks.items():
            if key.startswith("instead of "):
                this = key.removeprefix("instead of ")
                assert this in text, f"{self.where}: there is no {this}"
                text = text.replace(this, value)
        return text

    @property
    def is_run(self) -> bool:
        """By any test."""
        return "not run" not in self.marks

    @property
    def is_run_here(self) -> bool:
        """By those of this folder."""
        return self.is_run and "run by" not in self.marks


def pages() -> list[Path]:
    """The README, and all pages that are written by hand."""
    generated = ROOT / "docs" / "reference"
    return [
        ROOT / "README.md",
        *sorted(page for page in (ROOT / "docs").rglob("*.md") if generated not in page.parents),
    ]


@functools.cache
def blocks_of(page: Path) -> list[Block]:
    """All blocks of a page but the tables of contents."""
    return list(_blocks(page, MarkdownIt().parse(page.read_text(encoding="utf-8"))))


def _blocks(page: Path, tokens: list[Token]) -> Iterator[Block]:
    marks: dict[str, str] = {}
    for token in tokens:
        if token.type == "html_block":
            marks |= {
                one["key"].strip(): " ".join((one["value"] or "").split()) for one in _COMMENT.finditer(token.content)
            }
        elif token.type in ("fence", "code_block"):
            assert token.map is not None
            language = token.info.strip() or "(none)"
            if not _IS_DIRECTIVE.fullmatch(language):
                yield Block(page, token.map[0] + 2, language, token.content, marks)
            marks = {}
        elif not token.type.endswith("_close"):
            marks = {}


def main() -> None:
    """Prints what there is."""
    found = [block for page in pages() for block in blocks_of(page)]
    skipped = [block for block in found if not block.is_run]
    run = Counter(block.language for block in found if block.is_run)
    print(
        f"{len(found)} blocks on {len(pages())} pages; run:", ", ".join(f"{n} {kind}" for kind, n in run.most_common())
    )
    print(f"Not run: {len(skipped)}")
    for block in skipped:
        print(f"  {block.where} ({block.language}): {block.marks['not run']}")


if __name__ == "__main__":
    main()
