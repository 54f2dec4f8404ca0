"""Texts of others come out as they are."""

import pytest

from limes.app.commands.terminal import print_table, result_console


@pytest.mark.parametrize("text", ["a:b:c", "[/x]", "[red]", "[Errno 111] refused", "http://[::1]:80"])
def test_what_looks_like_markup(capsys: pytest.CaptureFixture[str], text: str) -> None:
    result_console().print(text)
    assert capsys.readouterr().out == f"{text}\n"
    print_table(result_console(), text, (text,), [(text,)])
    assert capsys.readouterr().out.count(text) == 3
