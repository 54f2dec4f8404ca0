"""Each text that the page on troubleshooting quotes from Limes is one that Limes can print."""

import ast
import re
from functools import cache

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from limes.app.commands.doctor import CHECKS, SECTIONS
from tests.docs.blocks import ROOT

PAGE = ROOT / "docs" / "troubleshooting.md"
ANY = "\0"
"""Stands in a text for what is filled in."""
_FILLED_IN = re.compile(r"%[-+.0-9]*[a-z]|\{[^{}]*\}")


def _text_of(node: ast.AST) -> str | None:
    """A constant, or an f-string or sum of strings with `ANY` for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _FILLED_IN.sub(ANY, node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else ANY for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (_text_of(node.left) or ANY) + (_text_of(node.right) or ANY)
    return None


@cache
def texts() -> tuple[str, ...]:
    """All texts in the code of Limes and its plugins, but for docstrings."""
    found: set[str] = set()
    for folder in ("limes", "plugins"):
        for file in (ROOT / folder).rglob("*.py"):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            described = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            found |= {text for node in ast.walk(tree) if id(node) not in described and (text := _text_of(node))}
    return tuple(found)


def exists(quoted: str) -> bool:
    """Whether some text has all parts of the quoted one in order, with something filled in at each `...`."""
    parts = [re.escape(part.strip()) for part in quoted.split("...")]
    expression = re.compile(rf".*?{ANY}.*?".join(parts), re.DOTALL)
    return any(expression.search(text) for text in texts())


def first_cells(tokens: list[Token]) -> list[Token]:
    """The cells of the first column, of tables whose first heading is "what you see"."""
    found: list[Token] = []
    column, counts = 0, False
    for number, token in enumerate(tokens):
        if token.type == "tr_open":
            column = 0
        elif token.type in ("th_open", "td_open"):
            content = tokens[number + 1]
            if token.type == "th_open" and column == 0:
                counts = content.content == "what you see"
            elif column == 0 and counts:
                found.append(content)
            column += 1
    return found


NOT_A_MESSAGE = re.compile(r"[\w./-]+|[a-z_]+(?:\.[a-z_]+)*|/\w+|[A-Z]+ /.*")
"""Names of keys, metrics, statuses, paths and requests; other tests know these."""


def quotations() -> list[str]:
    tokens = MarkdownIt("commonmark").enable("table").parse(PAGE.read_text(encoding="utf-8"))
    inner = [child for cell in first_cells(tokens) for child in cell.children or () if child.type == "code_inline"]
    return [child.content for child in inner if not NOT_A_MESSAGE.fullmatch(child.content)]


@pytest.mark.parametrize("quoted", quotations())
def test_limes_says_so(quoted: str) -> None:
    assert len(max(quoted.split("..."), key=len).strip()) >= 8, "too little to be looked for"
    assert exists(quoted)


def test_what_limes_does_not_say_is_found_out() -> None:
    assert not exists("the database is on fire")
    assert not exists("the ... schema in the ... is behind that release")
    assert exists("the ... schema in the ... is behind this release")


def test_the_sections_that_limes_names_exist() -> None:
    headings = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    sections = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    named = {name for text in texts() for name in re.findall(r"docs/troubleshooting\.md#([\w-]+)", text)}
    assert named
    assert (named | set(SECTIONS.values())) - sections == set()
    assert SECTIONS.keys() == set(CHECKS)


def test_there_are_enough_of_them() -> None:
    assert len(quotations()) > 50
