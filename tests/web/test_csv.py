"""CSV: quoting, cells that are no text, formulas, and what a client prefers."""

import csv
import io

import pytest

from limes.web.encoding import prefers_csv, write_csv, write_csv_row


def test_cells_are_quoted_where_they_must_be() -> None:
    assert write_csv_row(["a", "b,c", 'd"e', "f\ng"]) == b'a,"b,c","d""e","f\ng"\r\n'


def test_cells_that_are_no_text() -> None:
    assert write_csv_row([None, True, False, -5, 2**80, 0.5, {"flavor": "m1"}, [1, 2]]) == (
        b',true,false,-5,1208925819614629174706176,0.5,"{""flavor"":""m1""}","[1,2]"\r\n'
    )


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "  =", " @"])
def test_text_is_never_a_formula(start: str) -> None:
    text = f'{start}HYPERLINK("http://example.com?"&A1)'
    [[cell]] = csv.reader(io.StringIO(write_csv_row([text]).decode(), newline=""))
    assert cell == f"'{text}"


@pytest.mark.parametrize("text", ["", " ", "a=b", "web-1", "'quoted"])
def test_other_text_stays_as_it_is(text: str) -> None:
    [[cell, _]] = csv.reader(io.StringIO(write_csv_row([text, "x"]).decode(), newline=""))
    assert cell == text


def test_rows_come_in_batches() -> None:
    parts = list(write_csv(["n"], ([number] for number in range(5)), batch=2))
    assert parts == [b"n\r\n", b"0\r\n1\r\n", b"2\r\n3\r\n", b"4\r\n"]


@pytest.mark.parametrize(
    ("accept", "is_csv"),
    [
        (None, False),
        ("*/*", False),
        ("application/json", False),
        ("text/csv", True),
        ("text/*", True),
        ("text/csv, application/json;q=0.5", True),
        ("text/csv;q=0.5, application/json", False),
        ("text/csv, application/json", False),
        ("text/html", False),
        ("rubbish", False),
    ],
)
def test_what_a_client_prefers(accept: str | None, is_csv: bool) -> None:
    assert prefers_csv(accept) is is_csv
