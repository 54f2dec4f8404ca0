"""Documents as JSON: structs and dictionaries alike."""

from typing import Any

import orjson
import pytest
from msgspec import Struct

from limes.kernel.validation.shape import Shape, stored
from limes.web.encoding import MAX_SHOWN, dump, dump_texts


class Part(Shape):
    amount: int
    others: list["Part"] = []
    kept: Any = None


@pytest.mark.parametrize("amount", [0, 2**63, MAX_SHOWN, MAX_SHOWN + 1, 10**30])
def test_a_total_is_cut_to_what_clients_can_read(amount: int) -> None:
    shown = min(amount, MAX_SHOWN)
    for document in (
        {"parts": [{"amount": amount}]},
        Part(amount=amount),
        Part(amount=1, others=[Part(amount=amount)]),
    ):
        assert f'"amount":{shown}'.encode() in dump(document)


def test_a_text_of_digits_stays() -> None:
    assert dump(Part(amount=1, kept="9" * 30)) == b'{"amount":1,"kept":"%s"}\n' % (b"9" * 30)
    assert dump(Part(amount=1, kept=stored('{"a":"ü"}'))) == '{"amount":1,"kept":{"a":"ü"}}\n'.encode()


@pytest.mark.parametrize("special", ['"', "\\", '","', '",', "a\n", "\0", "\u2028"])
def test_texts_are_what_json_has_between_the_quotes(special: str) -> None:
    for texts in ([special], ["", "a,b", "ü", special, "'"], ["a", ""], []):
        assert [orjson.loads(f'"{text}"') for text in dump_texts(texts)] == texts


def test_a_struct_may_be_part_of_a_dictionary() -> None:
    assert dump({"parts": [Part(amount=1)], "none": None}) == b'{"parts":[{"amount":1}],"none":null}\n'


def test_other_structs_are_no_answers() -> None:
    class Inner(Struct, frozen=True):
        password: str

    for document in (Inner("s3cret"), {"parts": [Inner("s3cret")]}):
        with pytest.raises(orjson.JSONEncodeError):
            dump(document)
