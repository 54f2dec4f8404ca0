"""Tables and anchors of Markdown."""

from collections.abc import Iterable, Sequence


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table, and an empty one; none without rows."""
    lines = ["| " + " | ".join(map(cell, row)) + " |" for row in rows]
    return [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns), *lines, ""] if lines else []


def cell(text: str) -> str:
    """One line, in which `|` is no end of a column, and `<` outside of code begins no tag."""
    parts = " ".join(text.split()).replace("|", "\\|").split("`")
    return "`".join(part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(parts))


def code(text: object) -> str:
    """As code; nothing for nothing."""
    return f"`{text}`" if text not in (None, "") else ""
