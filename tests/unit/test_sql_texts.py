"""Queries are peewee's expressions. SQL stands as text where it has no words, with the reason beside it: `# SQL text: why`."""

from tests.house import ROOT, sql_texts

MOST = 59
NEAR = 4
"""Lines above the text in which its reason stands."""


def reason(place: str) -> bool:
    path, _, line = place.partition(":")
    lines = (ROOT / path).read_text().splitlines()
    return any("# SQL text: " in text for text in lines[max(0, int(line) - 1 - NEAR) : int(line)])


def test_there_are_few_sql_texts():
    texts = sql_texts()
    assert len(texts) <= MOST, texts


def test_each_says_why():
    assert [place for place in sql_texts() if not place.startswith("limes/importer/") and not reason(place)] == []
