"""Queries are peewee's expressions. SQL stands as text where it has no words, with the reason beside it: `# SQL text: why`."""

import ast

import pytest

from tests.house import ROOT, sql_lines, sql_texts

MOST = 15
NEAR = 4
"""Lines above the text in which its reason stands."""


def reason(place: str) -> bool:
    path, _, line = place.partition(":")
    lines = (ROOT / path).read_text().splitlines()
    return any("# SQL text: " in text for text in lines[max(0, int(line) - 1 - NEAR) : int(line)])


def test_there_are_few_sql_texts() -> None:
    texts = sql_texts()
    assert len(texts) <= MOST, texts


def test_each_says_why() -> None:
    assert [place for place in sql_texts() if not reason(place)] == []


@pytest.mark.parametrize(
    "source",
    [
        'NAMES = "SELECT name FROM t"',
        'NAMES = f"SELECT {name} FROM t"',
        'def delete(engine):\n    engine.execute(f"DELETE FROM {table}")',
        'engine.db.execute_sql("VACUUM")',
        'engine.rows(f"{words} FROM t")',
        'LOCK = "SET lock_timeout = 0"',
    ],
)
def test_what_counts(source: str) -> None:
    assert len(sql_lines(ast.parse(source))) == 1


@pytest.mark.parametrize(
    "source", ['on_delete = "SET NULL"', 'text = "With care"', "engine.rows(_TRAITS)", "Trait.select(Trait.id)"]
)
def test_what_does_not(source: str) -> None:
    assert sql_lines(ast.parse(source)) == []
